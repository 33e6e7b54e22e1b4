import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { AccountsService } from '../../../src/accounts/accounts/accounts.service.js';
import { API_KEY_FORMAT } from '../../../src/accounts/credentials/secrets.js';
import { ApiKeyVerifier } from '../../../src/accounts/api-keys/api-key-verifier.js';
import { ApiKeysService } from '../../../src/accounts/api-keys/api-keys.service.js';
import { CredentialWatch } from '../../../src/accounts/ended/credential-watch.js';
import { testEngines } from '../../support/database.js';
import { accountsSuite } from './accounts-app.js';
import { PASSWORD } from '../../support/usual-password.js';

const HOUR_MS = 3_600_000;
/** How many unknown keys a network may send at once. */
const UNKNOWN_AT_ONCE = 200;

describe.each(await testEngines())('the keys of an account on $name', (engine) => {
  let now = Date.now();
  const suite = accountsSuite(engine, { now: () => now });
  let keys: ApiKeysService;
  let verifier: ApiKeyVerifier;
  let accountId: string;
  let otherId: string;

  beforeAll(async () => {
    keys = suite.get(ApiKeysService);
    verifier = suite.get(ApiKeyVerifier);
    ({ id: accountId } = await suite.get(AccountsService).create({ email: 'a@example.com', password: PASSWORD }));
    ({ id: otherId } = await suite.get(AccountsService).create({ email: 'b@example.com', password: PASSWORD }));
  });

  const works = async (key: string) => (await verifier.verify(key)) !== undefined;

  it('stay valid for the grace period of a rotation, and not longer', async () => {
    const old = await keys.create(accountId, { name: 'rotated' });
    expect(await works(old.key)).toBe(true);
    const { created, oldEndsAt } = await keys.rotate(old.id, accountId, { overlapMs: HOUR_MS });
    expect([created.name, oldEndsAt]).toEqual(['rotated', new Date(now + HOUR_MS)]);
    now += HOUR_MS - 1;
    expect([await works(old.key), await works(created.key)]).toEqual([true, true]);
    now += 1;
    expect([await works(old.key), await works(created.key)]).toEqual([false, true]);
  });

  it('end at once by a rotation without time', async () => {
    const old = await keys.create(accountId, { name: 'leaked' });
    expect(await works(old.key)).toBe(true);
    const { created } = await keys.rotate(old.id, accountId, { overlapMs: 0 });
    expect([await works(old.key), await works(created.key)]).toEqual([false, true]);
    expect((await keys.find(old.id, accountId)).revokedAt).toEqual(new Date(now));
  });

  it('end what is open under them by a rotation without time, and only by that', async () => {
    const old = await keys.create(accountId, { name: 'in use' });
    const onEnded = vi.fn();
    suite.get(CredentialWatch).watch({ kind: 'api_key', id: old.id, accountId }, onEnded);
    await keys.rotate(old.id, accountId, { overlapMs: HOUR_MS });
    expect(onEnded).not.toHaveBeenCalled();
    await keys.rotate(old.id, accountId, { overlapMs: 0 });
    expect(onEnded).toHaveBeenCalledTimes(1);
  });

  it('that are new are accepted from a network that has used up its unknown keys', async () => {
    // Time gives a part of the budget back.
    const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now());
    const fromHere = (key: string) => verifier.verify(key, () => 'a guessing network');
    for (let n = 0; n < UNKNOWN_AT_ONCE; n++) expect(await fromHere(API_KEY_FORMAT.generate())).toBeUndefined();
    await expect(fromHere(API_KEY_FORMAT.generate())).rejects.toMatchObject({ code: 'rate_limit_exceeded' });

    const made = await keys.create(accountId, { name: 'made here' });
    const { created } = await keys.rotate(made.id, accountId, { overlapMs: 0 });

    expect(await fromHere(created.key)).toBeDefined();
    clock.mockRestore();
  });

  it('never live longer by a rotation', async () => {
    const expiresAt = new Date(now + 1000);
    const old = await keys.create(accountId, { name: 'short', expiresAt });
    const { oldEndsAt } = await keys.rotate(old.id, accountId, { overlapMs: HOUR_MS });
    expect(oldEndsAt).toEqual(expiresAt);
    expect((await keys.find(old.id, accountId)).expiresAt).toEqual(expiresAt);
  });

  it('are not rotated when they have ended, nor by others', async () => {
    const { id } = await keys.create(accountId, { name: 'mine', expiresAt: new Date(now + 1000) });
    const before = await keys.list(otherId);
    await expect(keys.rotate(id, otherId, { overlapMs: 0 })).rejects.toMatchObject({ code: 'not_found' });
    await expect(keys.rotate('\0', accountId, { overlapMs: 0 })).rejects.toMatchObject({ code: 'not_found' });
    expect([await keys.list(otherId), (await keys.find(id, accountId)).revokedAt]).toEqual([before, null]);
    now += 1000;
    await expect(keys.rotate(id, accountId, { overlapMs: 0 })).rejects.toMatchObject({ code: 'invalid_request' });
    expect((await keys.list(accountId)).filter(({ name }) => name === 'mine')).toHaveLength(1);
  });

  it('are created once for one id, also by concurrent requests', async () => {
    const id = randomUUID();
    const made = await keys.create(accountId, { name: 'once', id });
    expect(made.id).toBe(id);
    for (const account of [accountId, otherId]) {
      const again = keys.create(account, { name: 'once', id });
      await expect(again).rejects.toMatchObject({ code: 'invalid_request', details: [{ field: 'id' }] });
    }
    expect(await works(made.key)).toBe(true);
  });

  it('are counted, and come in pages, newest first', async () => {
    const { id: account } = await suite.get(AccountsService).create({ email: 'many@example.com', password: PASSWORD });
    for (let index = 0; index < 7; index++) {
      now += 1;
      await keys.create(account, { name: `key ${index}` });
    }
    expect(await keys.count(account)).toBe(7);
    const pages = await Promise.all([0, 3, 6, 9].map((offset) => keys.page(account, offset, 3)));
    expect(pages.map((page) => page.map(({ name }) => name.slice(4)).join(''))).toEqual(['654', '321', '0', '']);
  });
});
