import { DataSource } from 'typeorm';
import { describe, expect, it } from 'vitest';
import { API_KEY_FORMAT } from '../../../src/accounts/credentials/secrets.js';
import { AuditLog } from '../../../src/accounts/audit/audit-log.js';
import { OPERATOR_KEY_FORMAT, OperatorKeyVerifier } from '../../../src/accounts/operator-keys/operator-key-verifier.js';
import { OperatorKeys } from '../../../src/accounts/operator-keys/operator-keys.service.js';
import { testEngines } from '../../support/database.js';
import { KNOWN_WITHIN_MS } from '../../support/known-within.js';
import { waitFor } from '../../support/wait-for.js';
import { accountsSuite } from './accounts-app.js';
import { admin } from './admin.js';

describe.each(await testEngines())('operator keys on $name', (engine) => {
  let now = Date.now();
  const suite = accountsSuite(engine, { now: () => now });

  const verified = (key: string) => suite.get(OperatorKeyVerifier).verify(key, () => 'a network');
  const printed = async (...words: string[]) => {
    const { exitCode, stdout, stderr } = await admin(suite.database, 'operator-key', ...words);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    return JSON.parse(stdout) as unknown;
  };

  it('are made, listed and revoked by the command, each change with an entry in the audit log', async () => {
    const created = await printed('create', '--name', 'terraform', '--scope', 'write', '--expires-in-days', '30');
    const { id, key } = created as { id: string; key: string };
    expect(created).toMatchObject({ name: 'terraform', scope: 'write', expires_at: expect.any(String) as unknown });
    expect(await verified(key)).toMatchObject({ id, scope: 'write' });
    expect(await printed('revoke', '--id', id)).toEqual({ id, revoked_at: expect.any(String) as unknown });
    await waitFor(async () => (await verified(key)) === undefined, 'the key to be refused', KNOWN_WITHIN_MS);
    const [listed] = (await printed('list')) as Record<string, unknown>[];
    expect(listed).toMatchObject({ id, prefix: key.slice(0, 15), revoked_at: expect.any(String) as unknown });
    expect(JSON.stringify(listed)).not.toContain(key);

    const { entries } = await suite.get(AuditLog).page({}, undefined, 2);
    const entry = { actor: 'command', target: `operator-key:${id} (terraform)` };
    expect(entries).toMatchObject([
      { ...entry, action: 'operator_key.revoked' },
      { ...entry, action: 'operator_key.created', after: { name: 'terraform', scope: 'write' } },
    ]);
  }, 60_000);

  const rowOf = async (id: string) => {
    const mark = engine.name === 'PostgreSQL' ? '$1' : '?';
    const rows: { hashed_key: string; last_used_at: string | null }[] = await suite
      .get(DataSource)
      .query(`SELECT hashed_key, last_used_at FROM operator_keys WHERE id = ${mark}`, [id]);
    const [row] = rows;
    if (row === undefined) throw new Error('There is no such key.');
    return row;
  };

  it('are kept as a hash only, and are no API keys', async () => {
    const { id, key } = await suite.get(OperatorKeys).create({ name: 'hash', scope: 'read' });
    expect(OPERATOR_KEY_FORMAT.isWellFormed(key)).toBe(true);
    expect(API_KEY_FORMAT.isWellFormed(key)).toBe(false);
    expect(JSON.stringify(await rowOf(id))).not.toContain(key);
    await expect(verified(`${key.slice(0, -1)}${key.endsWith('x') ? 'y' : 'x'}`)).resolves.toBeUndefined();
  });

  it('expire', async () => {
    const expiresAt = new Date(now + 60_000);
    const { key } = await suite.get(OperatorKeys).create({ name: 'short', scope: 'read', expiresAt });
    expect(await verified(key)).toMatchObject({ scope: 'read' });
    now += 60_000;
    expect(await verified(key)).toBeUndefined();
  });

  it('stay revoked since their first revocation', async () => {
    const keys = suite.get(OperatorKeys);
    const { id } = await keys.create({ name: 'twice', scope: 'read' });
    const first = await keys.revoke(id);
    now += 60_000;
    expect(await keys.revoke(id)).toEqual(first);
  });

  it('have a name of one line, a known scope and an expiry date in the future', async () => {
    const keys = suite.get(OperatorKeys);
    const problems: [object, string][] = [
      [{ name: ' ' }, 'name'],
      [{ name: 'x'.repeat(101) }, 'name'],
      [{ name: 'two\nlines' }, 'name'],
      [{ scope: 'admin' }, 'scope'],
      [{ expiresAt: new Date(now) }, 'expires_at'],
    ];
    for (const [change, field] of problems) {
      const creation = keys.create({ name: 'ci', scope: 'read', ...change });
      await expect(creation).rejects.toMatchObject({ code: 'invalid_request', details: [{ field }] });
    }
    await expect(keys.revoke('no-uuid')).rejects.toMatchObject({ code: 'not_found' });
    await expect(keys.revoke('00000000-0000-4000-8000-000000000000')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('are at most 100 at a time, however many are created at once', async () => {
    const keys = suite.get(OperatorKeys);
    const creations = Array.from({ length: 110 }, () => keys.create({ name: 'many', scope: 'read' }));
    const outcomes = await Promise.allSettled(creations);
    const active = (await keys.list()).filter(
      ({ revokedAt, expiresAt }) => revokedAt === null && (expiresAt === null || expiresAt.getTime() > now),
    );
    expect(active).toHaveLength(100);
    expect(outcomes.filter(({ status }) => status === 'rejected').length).toBeGreaterThan(0);
  }, 60_000);
});
