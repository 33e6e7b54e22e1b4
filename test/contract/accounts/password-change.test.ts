import type { INestApplicationContext } from '@nestjs/common';
import { describe, expect, it, vi } from 'vitest';
import { AccountsService } from '../../../src/accounts/accounts/accounts.service.js';
import { ApiKeyVerifier } from '../../../src/accounts/api-keys/api-key-verifier.js';
import { ApiKeysService } from '../../../src/accounts/api-keys/api-keys.service.js';
import { CredentialWatch } from '../../../src/accounts/ended/credential-watch.js';
import { SessionsService } from '../../../src/accounts/sessions/sessions.service.js';
import { testEngines } from '../../support/database.js';
import { ENDED_WITHIN_MS, KNOWN_WITHIN_MS } from '../../support/known-within.js';
import { lastBefore, waitFor } from '../../support/wait-for.js';
import { accountsSuite } from './accounts-app.js';
import { PASSWORD } from '../../support/usual-password.js';

const NEXT = 'another horse battery';

describe.each(await testEngines())('a change of the password on $name', (engine) => {
  const suite = accountsSuite(engine, { processes: 2 });
  let accounts = 0;

  const service = () => suite.get(AccountsService);
  const works = async (app: INestApplicationContext, key: string) =>
    (await app.get(ApiKeyVerifier).verify(key)) !== undefined;
  /** An account with three keys, one of them revoked. */
  const newAccount = async () => {
    const email = `ada-${++accounts}@example.com`;
    const { id } = await service().create({ email, password: PASSWORD });
    const keys = suite.get(ApiKeysService);
    const [first, second, revoked] = [
      await keys.create(id, { name: 'first' }),
      await keys.create(id, { name: 'second' }),
      await keys.create(id, { name: 'revoked' }),
    ];
    const { revokedAt } = await keys.revoke(revoked.id);
    return { id, email, first, second, revoked: { id: revoked.id, revokedAt } };
  };

  it.each([
    ['the account', (id: string) => service().changePassword(id, PASSWORD, NEXT, { revokeKeys: true })],
    ['the operator', (_: string, email: string) => service().setPassword(email, NEXT, { revokeKeys: true })],
  ])('by %s revokes the active keys on request, and says how many', async (_, change) => {
    const { id, email, first, second, revoked } = await newAccount();
    const other = await newAccount();
    for (const app of [suite.app, suite.other]) expect(await works(app, first.key)).toBe(true);
    const [onHere, onThere] = [vi.fn(), vi.fn()];
    suite.get(CredentialWatch).watch({ kind: 'api_key', id: first.id, accountId: id }, onHere);
    suite.other.get(CredentialWatch).watch({ kind: 'api_key', id: second.id, accountId: id }, onThere);

    expect(await change(id, email)).toMatchObject({ account: { id, email }, revokedKeys: 2 });
    const changedAt = performance.now();

    expect([await works(suite.app, first.key), await works(suite.app, second.key)]).toEqual([false, false]);
    expect(onHere).toHaveBeenCalledTimes(1);
    const lastAccepted = await lastBefore(
      async () => !(await works(suite.other, first.key)),
      'the key to be refused there',
    );
    expect(lastAccepted - changedAt).toBeLessThan(KNOWN_WITHIN_MS);
    await waitFor(() => onThere.mock.calls.length === 1, 'open streams to end', ENDED_WITHIN_MS);
    const listed = await suite.get(ApiKeysService).find(revoked.id, id);
    expect(listed.revokedAt).toEqual(revoked.revokedAt);
    expect(await works(suite.app, other.first.key)).toBe(true);
    expect(await service().verifyPassword(email, NEXT)).toMatchObject({ id });
  });

  it('that is refused ends nothing', async () => {
    const { id, first } = await newAccount();
    const { token } = await suite.get(SessionsService).create(id);
    const options = { revokeKeys: true };
    await expect(service().changePassword(id, 'wrong horse battery', NEXT, options)).rejects.toMatchObject({
      details: [{ field: 'current_password' }],
    });
    await expect(service().changePassword(id, PASSWORD, 'short', options)).rejects.toMatchObject({
      details: [{ field: 'new_password' }],
    });
    expect(await works(suite.app, first.key)).toBe(true);
    expect(await suite.get(SessionsService).verify(token)).toBeDefined();
  });

  it('that another change has overtaken ends nothing either', async () => {
    const { id, first } = await newAccount();
    const outcomes = await Promise.allSettled([
      service().changePassword(id, PASSWORD, NEXT, { revokeKeys: true }),
      suite.other.get(AccountsService).changePassword(id, PASSWORD, 'a third horse battery'),
    ]);
    const [withKeys] = outcomes;
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const row = await suite.get(ApiKeysService).find(first.id, id);
    expect(row.revokedAt === null).toBe(withKeys.status === 'rejected');
  });
});
