import { DataSource } from 'typeorm';
import { describe, expect, it, vi } from 'vitest';
import { AuditLog } from '../../../src/accounts/audit/audit-log.js';
import { AuditTasks } from '../../../src/accounts/audit/audit-sinks.js';
import { AccountsService } from '../../../src/accounts/accounts/accounts.service.js';
import { AccountPreparation, IdentitiesService } from '../../../src/accounts/identities/identities.service.js';
import { ApiKeysService } from '../../../src/accounts/api-keys/api-keys.service.js';
import { ApiKeyVerifier } from '../../../src/accounts/api-keys/api-key-verifier.js';
import { SessionsService } from '../../../src/accounts/sessions/sessions.service.js';
import { ACCOUNT_COMMANDS, KEY_COMMANDS } from '../../../src/plugins/admin/commands/commands.js';
import { HourlyJobs } from '../../../src/platform/common/timers/periodic-task.js';
import type { Config } from '../../../src/platform/config/config.js';
import { testEngines } from '../../support/database.js';
import { PASSWORD } from '../../support/usual-password.js';
import { accountsSuite, openAccountsApp } from './accounts-app.js';
import { admin } from './admin.js';

/** The commands that change nothing. */
const READING = ['account list', 'key list'];
/** What each other command writes, in order, for the account `ada@example.com` and a key of it. */
const WRITTEN: readonly [command: string, options: readonly string[], actions: readonly string[]][] = [
  ['account create', ['--password', PASSWORD, '--tier', 'free'], ['account.created']],
  ['account tier', ['--tier', 'pro'], ['account.tier_changed']],
  ['account role', ['--role', 'operator'], ['account.role_changed']],
  ['account password', ['--password', `${PASSWORD} 2`], ['account.password_changed']],
  ['key create', ['--name', 'ci', '--requests-per-minute', '5'], ['key.created']],
  ['key update', ['--models', 'acme/*'], ['key.updated']],
  ['key revoke', [], ['key.revoked']],
  ['account disable', [], ['account.disabled']],
  ['account enable', [], ['account.enabled']],
  ['account delete', [], ['account.deleted']],
];
/** Needs single sign-on: see the test of `AccountPreparation`. */
const ELSEWHERE = ['account single-sign-on'];

describe.each(await testEngines())('the audit log on $name', (engine) => {
  const suite = accountsSuite(engine);

  const all = async (...words: string[]) => {
    const { exitCode, stdout, stderr } = await admin(suite.database, 'audit', ...words);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    return JSON.parse(stdout) as Record<string, unknown>[];
  };
  const latest = async (accountId: string, limit = 1) =>
    (await suite.get(AuditLog).page({ accountId }, undefined, limit)).entries;
  const account = (name: string) =>
    suite.get(AccountsService).create({ email: `${name}@example.com`, password: PASSWORD });

  it('has an entry for every change that a command makes', async () => {
    const names = [...ACCOUNT_COMMANDS, ...KEY_COMMANDS].map(({ name }) => name);
    expect([...READING, ...ELSEWHERE, ...WRITTEN.map(([name]) => name)].sort()).toEqual(names.sort());
    let keyId = '';
    let accountId = '';
    for (const [name, options, actions] of WRITTEN) {
      const ofKey = name.startsWith('key ') && name !== 'key create';
      const subject = ofKey ? ['--id', keyId] : ['--email', 'ada@example.com'];
      const { exitCode, stdout, stderr } = await admin(suite.database, ...name.split(' '), ...subject, ...options);
      expect({ name, exitCode, stderr }).toEqual({ name, exitCode: 0, stderr: '' });
      const { id } = JSON.parse(stdout) as { id: string };
      if (name === 'account create') accountId = id;
      if (name === 'key create') keyId = id;
      const entries = await latest(accountId, actions.length);
      expect(entries.map(({ action }) => action)).toEqual(actions);
      const target = name.startsWith('key ') ? `key:${keyId}` : `account:${accountId}`;
      for (const entry of entries) {
        expect(entry.target).toContain(target);
        expect(entry).toMatchObject({ actor: 'command', source: expect.stringMatching(/.@./) as unknown });
      }
    }
    const written = await suite.get(AuditLog).page({ accountId }, undefined, 50);
    expect(written.entries.find(({ action }) => action === 'account.tier_changed')).toMatchObject({
      before: { tier: 'free' },
      after: { tier: 'pro' },
    });
    expect(written.entries.find(({ action }) => action === 'key.updated')).toMatchObject({
      before: { models: null, requests_per_minute: 5 },
      after: { models: ['acme/*'], requests_per_minute: 5 },
    });
    // The account is gone, and its address with it.
    expect(JSON.stringify(written.entries)).not.toContain('ada@example.com');
  }, 120_000);

  it('prints entries with the seven members of the contract, and filters them', async () => {
    const { id } = await account('grace');
    await suite.get(AccountsService).setTier({ id }, 'pro', { actor: `account:${id}`, source: '192.0.2.7' });
    const [entry, created, ...others] = await all('--email', 'grace@example.com');
    expect(others).toEqual([]);
    expect(created).toMatchObject({ action: 'account.created' });
    expect(Object.keys(entry ?? {})).toEqual(['at', 'actor', 'action', 'target', 'source', 'before', 'after']);
    expect(entry).toMatchObject({
      actor: `account:${id} (grace@example.com)`,
      target: `account:${id} (grace@example.com)`,
      action: 'account.tier_changed',
      source: '192.0.2.7',
    });
    expect(await all('--email', 'grace@example.com', '--action', 'account.created')).toEqual([created]);
    const today = new Date().toISOString().slice(0, 10);
    expect(await all('--email', 'grace@example.com', '--from', today, '--to', today)).toHaveLength(2);
    expect(await all('--email', 'grace@example.com', '--to', '2020-01-01')).toEqual([]);
    expect(await all('--email', 'grace@example.com', '--from', '2999-01-01')).toEqual([]);
    const { exitCode, stderr } = await admin(suite.database, 'audit', '--from', 'yesterday');
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('YYYY-MM-DD') as unknown,
    });
  }, 60_000);

  it('has entries for sessions, rotations and identities, and none for their use', async () => {
    const { id } = await account('mary');
    const sessions = suite.get(SessionsService);
    const { token, sessionId } = await sessions.create(id, undefined, '192.0.2.1');
    await sessions.verify(token);
    await sessions.end(sessionId, { actor: `account:${id}`, source: '192.0.2.1' });
    const key = await suite.get(ApiKeysService).create(id, { name: 'old' });
    await suite.get(ApiKeyVerifier).verify(key.key);
    await suite.get(ApiKeysService).rotate(key.id, id, { overlapMs: 0 });
    const identity = { issuer: 'https://id.example.com', subject: 'mary', email: undefined };
    await suite.get(IdentitiesService).link(identity, id);
    await suite.get(AccountPreparation).prepare({ id }, true, { actor: 'command' });
    const entries = await latest(id, 50);
    expect(entries.map(({ action, source }) => [action, source]).reverse()).toEqual([
      ['account.created', null],
      ['session.created', '192.0.2.1'],
      ['session.ended', '192.0.2.1'],
      ['key.created', null],
      ['key.created', null],
      ['key.revoked', null],
      ['identity.linked', null],
      ['account.password_changed', null],
      ['identity.unlinked', null],
      ['key.revoked', null],
    ]);
    // No secret, not even the hash of a secret.
    const texts = JSON.stringify(entries);
    for (const secret of [token, sessionId, key.key, '$argon2']) expect(texts).not.toContain(secret);
  });

  it('writes no entry for a change that fails', async () => {
    const { id } = await account('alan');
    const before = await latest(id, 50);
    const keys = suite.get(ApiKeysService);
    await expect(keys.create(id, { name: 'x', sessionId: 'ended' })).rejects.toMatchObject({ code: 'unauthenticated' });
    await expect(account('alan')).rejects.toMatchObject({ code: 'invalid_request' });
    await suite.get(AccountsService).setTier({ id }, 'free');
    expect(await latest(id, 50)).toEqual(before);
  });

  it('refuses changes of its entries', async () => {
    await account('kurt');
    const change = suite.get(DataSource).query("UPDATE audit_entries SET actor = 'nobody'");
    await expect(change).rejects.toThrow('append-only');
  });

  it('has one entry for each configuration, however many replicas load it', async () => {
    const other = await openAccountsApp(suite.database.config);
    const configured = () => suite.get(AuditLog).page({ action: 'config.loaded' }, undefined, 50);
    const { entries } = await configured();
    expect(entries).toHaveLength(1);
    const now = new Date();
    for (const each of [suite.app, other, suite.app]) await each.get(AuditLog).configurationLoaded('abc', now);
    const [newest, ...rest] = (await configured()).entries;
    expect(newest).toMatchObject({ target: 'configuration', after: { sha256: 'abc' }, before: entries[0]?.after });
    expect(rest).toEqual(entries);
    await suite.get(AuditTasks).recordConfiguration();
    expect((await configured()).entries).toHaveLength(3);
    await other.close();
  });

  it('keeps entries for AUDIT_RETENTION_DAYS, and deletes older ones in an hourly job', async () => {
    const count = async () => (await suite.get(AuditLog).page({}, undefined, 500)).entries.length;
    const before = await count();
    expect(before).toBeGreaterThan(0);
    const jobs = new HourlyJobs();
    const add = vi.spyOn(jobs, 'add');
    const config = { auditRetentionDays: 30 } as Config;
    const age = { days: 29.9 };
    const now = () => Date.now() + age.days * 86_400_000;
    new AuditTasks(suite.get(AuditLog), config, now, jobs);
    const job = add.mock.calls[0]?.[1];
    const { signal } = new AbortController();
    expect(await job?.(signal)).toBe(false);
    expect(await count()).toBe(before);
    age.days = 30.1;
    expect(await job?.(signal)).toBe(false);
    expect(await count()).toBe(0);
  });
});
