import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { AccountStates } from '../../../src/accounts/accounts/account-states.js';
import { AccountsService } from '../../../src/accounts/accounts/accounts.service.js';
import { ApiKeyCreation } from '../../../src/accounts/api-keys/api-key-creation.js';
import { ApiKeysService } from '../../../src/accounts/api-keys/api-keys.service.js';
import { PasswordReplacement } from '../../../src/accounts/passwords/password-replacement.js';
import { SessionsService } from '../../../src/accounts/sessions/sessions.service.js';
import { KeyCreationLimit } from '../../../src/auth/attempts/attempt-counters.js';
import { ServiceError } from '../../../src/platform/common/service-error.js';
import { browserClient } from '../../support/browser-client.js';
import { Latch, isOver } from '../../support/latch.js';
import { startService, type RunningService } from '../../support/service.js';
import { stream } from '../../support/sse-client.js';
import { waitFor } from '../../support/wait-for.js';
import { type WebClient } from '../../support/web-client.js';
import { PASSWORD } from '../../support/usual-password.js';

const NEXT = 'another horse battery';
const CHANGE = { current_password: PASSWORD, new_password: NEXT };
const PASSWORD_PATH = '/settings/account/password';
const KEYS_PATH = '/settings/api-keys';
const MAX_KEYS_AN_HOUR = 100;

let service: RunningService;
let accounts: AccountsService;
let keys: ApiKeysService;
let numberOfAccounts = 0;
let email: string;
let accountId: string;
let owner: WebClient;

const provided = <T>(type: abstract new (...args: never[]) => T): T => service.app.get<T>(type, { strict: false });

beforeAll(async () => {
  service = await startService();
  [accounts, keys] = [provided(AccountsService), provided(ApiKeysService)];
});
beforeEach(async () => {
  email = `owner-${++numberOfAccounts}@example.com`;
  owner = browserClient(service.origin);
  expect((await owner.signUp(email)).status).toBe(303);
  accountId = (await accounts.findByEmail(email))?.id ?? '';
});
afterEach(() => {
  vi.restoreAllMocks();
});
afterAll(() => service.stop());

/** Lets the next call of the method wait at a latch, before it does its work. */
function latched<T extends object>(
  on: T,
  method: keyof T & string,
): { readonly latch: Latch; arrived(): Promise<unknown> } {
  const latch = new Latch();
  const original = (on[method] as (...args: unknown[]) => Promise<unknown>).bind(on);
  const spy = vi.spyOn(on as Record<string, (...args: unknown[]) => Promise<unknown>>, method);
  spy.mockImplementationOnce(async (...args) => {
    await latch.opened;
    return original(...args);
  });
  return { latch, arrived: () => waitFor(() => spy.mock.calls.length > 0, `the call of ${method}`) };
}

const isSignedIn = async (client: WebClient) => (await client.get('/settings/account')).status === 200;
const canSignIn = async (password: string) =>
  (await browserClient(service.origin).signIn(email, password)).status === 303;
const activeKeys = async () => (await keys.list(accountId)).filter(({ revokedAt }) => revokedAt === null);

describe('while a session is about to end', () => {
  it('the browser receives no response before the end', async () => {
    const { latch, arrived } = latched(provided(SessionsService), 'end');
    const answer = owner.post('/sign-out');
    await arrived();
    expect(await isOver(answer)).toBe(false);
    expect(await isSignedIn(owner)).toBe(true);
    latch.open();
    expect((await answer).status).toBe(303);
    expect(await isSignedIn(owner)).toBe(false);
  });

  it('and the database fails, the browser receives an error, and keeps its cookie to try again', async () => {
    const { cookie } = owner;
    const failure = new ServiceError('unavailable', 'The database is unavailable.');
    vi.spyOn(provided(SessionsService), 'end').mockRejectedValueOnce(failure);
    expect((await owner.post('/sign-out')).status).toBe(503);
    expect(owner.cookie).toBe(cookie);
    expect((await owner.post('/sign-out')).status).toBe(303);
    expect(await isSignedIn(owner)).toBe(false);
  });
});

describe('while a password is about to be replaced', () => {
  async function changing(fields: Record<string, string> = {}) {
    const { latch, arrived } = latched(provided(PasswordReplacement), 'replace');
    const answer = owner.postForm(PASSWORD_PATH, { ...CHANGE, ...fields });
    await arrived();
    return { latch, answer };
  }

  it('it can be replaced elsewhere: the first change wins, and the other one is refused and signed out', async () => {
    const elsewhere = browserClient(service.origin);
    await elsewhere.signIn(email);
    const { latch, answer } = await changing();
    const first = await elsewhere.postForm(PASSWORD_PATH, { ...CHANGE, new_password: 'the first of the two' });
    expect(first.status).toBe(303);

    latch.open();

    expect((await answer).status).toBe(400);
    expect(await (await answer).body()).toContain('The current password is incorrect.');
    expect([await isSignedIn(owner), await isSignedIn(elsewhere)]).toEqual([false, true]);
    expect([await canSignIn(NEXT), await canSignIn('the first of the two')]).toEqual([false, true]);
  });

  it('the account can be disabled: the sign-in fails', async () => {
    const { latch, answer } = await changing();
    await provided(AccountStates).disable(email);

    latch.open();

    expect((await answer).status).toBe(401);
    expect(await isSignedIn(owner)).toBe(false);
    expect([await canSignIn(PASSWORD), await canSignIn(NEXT)]).toEqual([false, false]);
  });

  it('the account can be deleted: nothing of it comes back', async () => {
    const { latch, answer } = await changing();
    await provided(AccountStates).delete(email);

    latch.open();

    expect((await answer).status).toBe(400);
    expect(await isSignedIn(owner)).toBe(false);
    expect(await accounts.findByEmail(email)).toBeUndefined();
  });

  it('one of its keys can be revoked: that one keeps its time, and only the others count as revoked by the change', async () => {
    const [first, second] = [
      await keys.create(accountId, { name: 'one' }),
      await keys.create(accountId, { name: 'two' }),
    ];
    const { latch, answer } = await changing({ revoke_keys: 'yes' });
    const { revokedAt } = await keys.revoke(first.id);

    latch.open();

    expect((await answer).headers.location).toMatch(/&revoked=1$/);
    expect((await keys.find(first.id, accountId)).revokedAt).toEqual(revokedAt);
    expect(await activeKeys()).toEqual([]);
    expect((await stream(service.origin, { key: second.key })).status).toBe(401);
  });
});

describe('while the new session after a change of the password is about to be made', () => {
  it.each([
    ['the password can be replaced again', () => accounts.setPassword(email, 'the operator says so')],
    ['the account can be disabled', () => provided(AccountStates).disable(email)],
  ])('%s: the new session does not last', async (_, change) => {
    const { latch, arrived } = latched(provided(SessionsService), 'create');
    const answer = owner.postForm(PASSWORD_PATH, CHANGE);
    await arrived();
    await change();

    latch.open();

    expect((await answer).status).toBe(401);
    expect(await isSignedIn(owner)).toBe(false);
  });
});

describe('while a key is about to be made', () => {
  async function making(path = KEYS_PATH, fields: Record<string, string> = { name: 'late' }) {
    const { latch, arrived } = latched(provided(ApiKeyCreation), 'create');
    const answer = owner.postForm(path, fields);
    await arrived();
    return { latch, answer };
  }

  const changes: [string, () => Promise<unknown>][] = [
    ['its session can end', () => owner.post('/sign-out')],
    ['the password can be replaced', () => accounts.changePassword(accountId, PASSWORD, NEXT, { network: '' })],
    ['the account can be disabled', () => provided(AccountStates).disable(email)],
  ];

  it.each(changes)('%s: no key is made', async (_, change) => {
    const { latch, answer } = await making();
    await change();

    latch.open();

    expect((await answer).status).toBe(401);
    expect(await keys.list(accountId)).toEqual([]);
  });

  it.each(changes)('in place of another one, %s: no key is created, and the old one stays', async (_, change) => {
    const { id } = await keys.create(accountId, { name: 'old' });
    const { latch, answer } = await making(`${KEYS_PATH}/${id}/rotate`, { old_key_ends_in_hours: '1' });
    await change();

    latch.open();

    expect((await answer).status).toBe(401);
    expect(await keys.list(accountId)).toMatchObject([{ id, expiresAt: null, revokedAt: null }]);
  });

  it('the account can be deleted: no key is made', async () => {
    const { latch, answer } = await making();
    await provided(AccountStates).delete(email);

    latch.open();

    expect([401, 404]).toContain((await answer).status);
    expect(await keys.list(accountId)).toEqual([]);
  });

  it.each(['0', '24'])(
    'in place of another one (%s hours), that one can be revoked: there is no new key',
    async (hours) => {
      const { id } = await keys.create(accountId, { name: 'old' });
      const { latch, answer } = await making(`${KEYS_PATH}/${id}/rotate`, { old_key_ends_in_hours: hours });
      const { revokedAt } = await keys.revoke(id);

      latch.open();

      expect((await answer).status).toBe(400);
      expect(await (await answer).body()).toContain('This key is expired or revoked. Create a new key.');
      expect((await keys.find(id, accountId)).revokedAt).toEqual(revokedAt);
      expect(await activeKeys()).toEqual([]);
    },
  );
});

describe('with one new key left in the hour', () => {
  beforeEach(async () => {
    const limit = provided(KeyCreationLimit);
    for (let made = 1; made < MAX_KEYS_AN_HOUR; made++) {
      await limit.count(accountId, () => keys.create(accountId, { name: `key ${made}` }));
    }
  });

  it('two concurrent requests create one key, and a failed request does not count against the limit', async () => {
    const { latch, arrived } = latched(keys, 'create');
    const first = owner.postForm(KEYS_PATH, { name: '' });
    await arrived();

    expect((await owner.postForm(KEYS_PATH, { name: 'second' })).status).toBe(429);
    latch.open();

    expect((await first).status).toBe(400);
    expect((await owner.postForm(KEYS_PATH, { name: 'third' })).status).toBe(201);
    expect((await owner.postForm(KEYS_PATH, { name: 'fourth' })).status).toBe(429);
    expect(await activeKeys()).toHaveLength(MAX_KEYS_AN_HOUR);
  });
});
