import type { INestApplicationContext } from '@nestjs/common';
import { getRepositoryToken } from '@nestjs/typeorm';
import { randomUUID } from 'node:crypto';
import type { Repository } from 'typeorm';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { Account } from '../../../src/accounts/account/account.entity.js';
import { AccountStates } from '../../../src/accounts/accounts/account-states.js';
import { AccountsService } from '../../../src/accounts/accounts/accounts.service.js';
import { ApiKeyVerifier } from '../../../src/accounts/api-keys/api-key-verifier.js';
import { ApiKeysService } from '../../../src/accounts/api-keys/api-keys.service.js';
import { CredentialWatch } from '../../../src/accounts/ended/credential-watch.js';
import { SessionsService } from '../../../src/accounts/sessions/sessions.service.js';
import { testEngines } from '../../support/database.js';
import { waitFor } from '../../support/wait-for.js';
import { accountsSuite, createKey, openAccountsApp } from './accounts-app.js';
import { admin } from './admin.js';
import { PASSWORD } from '../../support/usual-password.js';

describe.each(await testEngines())('the state of an account on $name', (engine) => {
  const suite = accountsSuite(engine, { processes: 2 });

  const command = async (...words: string[]): Promise<unknown> => {
    const { exitCode, stdout, stderr } = await admin(suite.database, ...words);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    return JSON.parse(stdout);
  };
  const isAccepted = async (process: INestApplicationContext, key: string) =>
    (await process.get(ApiKeyVerifier).verify(key)) !== undefined;
  const signsIn = async (email: string) =>
    (await suite.get(AccountsService).verifyPassword(email, PASSWORD)) !== undefined;

  /** An account with a key and a session, both in use in two processes. */
  async function inUse(email: string) {
    const { id: keyId, key } = await createKey(suite.app, email);
    const account = await suite.get(AccountsService).findByEmail(email);
    const accountId = account?.id ?? '';
    const { token, sessionId } = await suite.get(SessionsService).create(accountId);
    const onEnded = vi.fn();
    for (const process of [suite.app, suite.other]) {
      expect(await isAccepted(process, key)).toBe(true);
      expect(await process.get(SessionsService).verify(token)).toBeDefined();
      process.get(CredentialWatch).watch({ kind: 'api_key', id: keyId, accountId }, onEnded);
      process.get(CredentialWatch).watch({ kind: 'session', id: sessionId, accountId }, onEnded);
    }
    const hasEnded = async () => {
      const valid = await Promise.all(
        [suite.app, suite.other].flatMap((process) => [
          isAccepted(process, key),
          process.get(SessionsService).verify(token),
        ]),
      );
      return onEnded.mock.calls.length === 4 && valid.every((one) => one === false || one === undefined);
    };
    return { id: account?.id, keyId, key, token, hasEnded };
  }

  it.each(['disable', 'delete'])('ends keys, sessions and open streams everywhere on %s', async (what) => {
    const email = `${what}@example.com`;
    const { id, key, token, hasEnded } = await inUse(email);
    const state = what === 'disable' ? 'disabled' : 'deleted';
    expect(await command('account', what, '--email', email.toUpperCase())).toEqual({ id, email, state });
    await waitFor(hasEnded, 'the keys and the session to end in both processes');
    expect(await signsIn(email)).toBe(false);
    expect(await isAccepted(await openAccountsAppOnce(), key)).toBe(false);
    expect(await suite.get(SessionsService).verify(token)).toBeUndefined();
  });

  it('ends everything of this process at once', async () => {
    const email = 'here@example.com';
    const { id: keyId, key, accountId } = await createKey(suite.app, email);
    const onEnded = vi.fn();
    expect(await isAccepted(suite.app, key)).toBe(true);
    suite.get(CredentialWatch).watch({ kind: 'api_key', id: keyId, accountId }, onEnded);
    await suite.get(AccountStates).disable(email);
    expect(onEnded).toHaveBeenCalledTimes(1);
    expect(await isAccepted(suite.app, key)).toBe(false);
  });

  it('keeps the time at which the account was disabled first', async () => {
    const email = 'twice@example.com';
    const { id } = await suite.get(AccountsService).create({ email, password: PASSWORD });
    const disabledAt = async () => (await suite.get(AccountsService).findById(id))?.disabledAt;
    const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.parse('2031-01-01T00:00:00Z'));
    await suite.get(AccountStates).disable(email);
    clock.mockReturnValue(Date.parse('2031-01-02T00:00:00Z'));
    await suite.get(AccountStates).disable(email);
    clock.mockRestore();
    expect(await disabledAt()).toEqual(new Date('2031-01-01T00:00:00Z'));
  });

  it('accepts the keys again once it is enabled, also for new streams, and not the sessions', async () => {
    const email = 'back@example.com';
    const { id, keyId, key, token, hasEnded } = await inUse(email);
    const revoked = await suite.get(ApiKeysService).create(id ?? '', { name: 'revoked' });
    await suite.get(ApiKeysService).revoke(revoked.id);
    await command('account', 'disable', '--email', email);
    await command('account', 'disable', '--email', email);
    await waitFor(hasEnded, 'everything to end');
    const newKey = await admin(suite.database, 'key', 'create', '--email', email, '--name', 'new');
    expect(newKey).toMatchObject({ exitCode: 1, stderr: 'The account is disabled. Enable it first.\n' });

    expect(await command('account', 'enable', '--email', email)).toEqual({ id, email, state: 'active' });
    for (const process of [suite.app, suite.other]) {
      await waitFor(() => isAccepted(process, key), 'the key to be accepted');
      const onEnded = vi.fn();
      const unwatch = process.get(CredentialWatch).watch({ kind: 'api_key', id: keyId, accountId: id ?? '' }, onEnded);
      await Promise.resolve();
      expect(onEnded).not.toHaveBeenCalled();
      unwatch();
      expect(await isAccepted(process, revoked.key)).toBe(false);
      expect(await process.get(SessionsService).verify(token)).toBeUndefined();
    }
    expect(await signsIn(email)).toBe(true);
  });

  it('frees the address when it is deleted', async () => {
    const email = 'again@example.com';
    const { id } = await suite.get(AccountsService).create({ email, password: PASSWORD });
    await suite.get(AccountStates).delete(email);
    const next = await suite.get(AccountsService).create({ email, password: PASSWORD });
    expect(next.id).not.toBe(id);
  });

  it('is listed for each account once, on pages of 500', async () => {
    const accounts = suite.get<Repository<Account>>(getRepositoryToken(Account), { strict: false });
    const before = await accounts.count();
    const one = (index: number) => ({
      id: randomUUID(),
      email: `page-${String(index).padStart(4, '0')}@example.com`,
      passwordHash: 'none',
      tier: 'free',
      createdAt: new Date(),
    });
    const added = Array.from({ length: 1_000 }, (_, index) => one(index));
    for (let start = 0; start < added.length; start += 100) await accounts.insert(added.slice(start, start + 100));

    const pages: string[][] = [];
    for await (const page of suite.get(AccountStates).pages()) pages.push(page.map(({ account }) => account.email));

    await accounts.delete(added.map(({ id }) => id));
    expect(pages.map(({ length }) => length)).toEqual([500, 500, before]);
    expect(new Set(pages.flat()).size).toBe(1_000 + before);
    expect(pages.flat()).toEqual(expect.arrayContaining(added.map(({ email }) => email)));
  });

  it('is listed for all accounts, ordered by address', async () => {
    const accounts = (await command('account', 'list')) as { email: string; state: string }[];
    const of = (name: string) => accounts.find(({ email }) => email === name);
    expect(of('back@example.com')).toEqual({
      id: expect.any(String) as string,
      email: 'back@example.com',
      tier: 'free',
      role: 'member',
      state: 'active',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
    });
    expect(of('disable@example.com')?.state).toBe('disabled');
    expect(of('delete@example.com')).toBeUndefined();
    expect(accounts.map(({ email }) => email)).toEqual(accounts.map(({ email }) => email).sort());
  });

  /** A process that has seen nothing yet. */
  async function openAccountsAppOnce(): Promise<INestApplicationContext> {
    const fresh = await openAccountsApp(suite.database.config);
    started.push(fresh);
    return fresh;
  }
  const started: INestApplicationContext[] = [];
  afterAll(async () => {
    await Promise.all(started.map((process) => process.close()));
  });
});
