import { getRepositoryToken } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { Account } from '../../../src/accounts/account/account.entity.js';
import { Latch } from '../../support/latch.js';
import { retryWhileOverloaded } from '../../support/retry-while-overloaded.js';
import { startService, type RunningService } from '../../support/service.js';
import { SignInPagesModule } from '../../support/sign-in-pages.js';
import { get } from '../../support/sse-client.js';
import { waitFor } from '../../support/wait-for.js';
import { EMAIL, WebClient } from '../../support/web-client.js';
import { PASSWORD } from '../../support/usual-password.js';

// Runs before the imports, so that the modules of the service import the replaced functions.
const argon2 = vi.hoisted(() => {
  type Work = (...values: unknown[]) => unknown;
  const { createRequire } = process.getBuiltinModule('node:module');
  const exported = createRequire(import.meta.url)('@node-rs/argon2') as Record<'hash' | 'verify', Work>;
  const replaced = { hash: vi.fn(exported.hash), verify: vi.fn(exported.verify) };
  Object.assign(exported, replaced);
  return replaced;
});

describe('the work of signing in', () => {
  let service: RunningService;

  beforeAll(async () => {
    service = await startService({ modules: [SignInPagesModule], env: { TRUST_PROXY: '1' } });
    await new WebClient(service.origin).signUp();
  });
  afterAll(() => service.stop());
  beforeEach(() => {
    argon2.hash.mockClear();
    argon2.verify.mockClear();
  });

  const from = (n: number) => new WebClient(service.origin, { 'x-forwarded-for': `203.0.113.${n}` });
  /** What each password was compared with: the hash without its random parts, but with their lengths. */
  const compared = () =>
    argon2.verify.mock.calls.map(([hash]) => String(hash).replace(/[\w+/]{20,}/g, (random) => `${random.length}`));
  const queries = () => {
    const find = vi.spyOn(
      service.app.get<Repository<Account>>(getRepositoryToken(Account), { strict: false }),
      'findOneBy',
    );
    return () => find.mock.calls.splice(0).length;
  };

  it('is the same for an unknown address as for a wrong password', async () => {
    const asked = queries();
    await from(1).signIn(EMAIL, 'wrong horse battery');
    const forWrongPassword = { compared: compared(), asked: asked(), hashed: argon2.hash.mock.calls.length };
    argon2.verify.mockClear();

    await from(1).signIn('nobody@example.com', PASSWORD);

    expect({ compared: compared(), asked: asked(), hashed: argon2.hash.mock.calls.length }).toEqual(forWrongPassword);
    expect(forWrongPassword).toEqual({ compared: ['$argon2id$v=19$m=19456,t=2,p=1$22$43'], asked: 1, hashed: 0 });
  });

  it('is the same to sign up with an address that is in use as with a new address', async () => {
    expect((await from(1).signUp(EMAIL)).status).toBe(400);
    expect(argon2.hash.mock.calls).toHaveLength(1);
    expect((await from(1).signUp('new@example.com')).status).toBe(303);
    expect(argon2.hash.mock.calls).toHaveLength(2);
  });

  it('is none for a new account that cannot be, nor while the limits refuse', async () => {
    expect((await from(1).signUp('new@example.com', 'password1')).status).toBe(400);
    expect((await from(1).signUp('no address')).status).toBe(400);
    for (let n = 0; n < 12; n++) await from(2).signIn(EMAIL, 'wrong horse battery');
    expect(argon2.hash).not.toHaveBeenCalled();
    expect(argon2.verify).toHaveBeenCalledTimes(10);
  });

  it('is not begun for more attempts than the limits allow, however many arrive before the first is judged', async () => {
    const latch = new Latch();
    argon2.verify.mockImplementation(async () => {
      await latch.opened;
      return false;
    });
    const attempts = Array.from({ length: 25 }, () => from(3).signIn('somebody@example.com'));
    const answered: number[] = [];
    for (const attempt of attempts) void attempt.then(({ status }) => answered.push(status));
    await waitFor(() => answered.length === 15, 'fifteen to be refused');

    latch.open();

    await Promise.all(attempts);
    expect(answered).toEqual([...Array<number>(15).fill(429), ...Array<number>(10).fill(401)]);
    expect(argon2.verify).toHaveBeenCalledTimes(10);
  });

  it('is done for two at a time, fifty wait or work, and the others are refused with Retry-After', async () => {
    const latch = new Latch();
    let running = 0;
    let most = 0;
    argon2.verify.mockImplementation(async () => {
      most = Math.max(most, ++running);
      await latch.opened;
      running--;
      return false;
    });
    const answered: string[] = [];
    const attempts = Array.from({ length: 70 }, async (_, n) => {
      const answer = await retryWhileOverloaded(() => from(n).signIn(`somebody-${n}@example.com`));
      answered.push(`${answer.status}, again after ${answer.headers['retry-after'] ?? 'nothing'}`);
    });
    await waitFor(() => answered.length >= 20, 'twenty to be answered');
    expect(answered).toEqual(Array<string>(20).fill('503, again after 2'));
    expect((await get(service.origin, '/api/v1/health')).status).toBe(200);

    latch.open();

    await Promise.all(attempts);
    expect(answered.slice(20)).toEqual(Array<string>(50).fill('401, again after nothing'));
    expect(most).toBe(2);
  });
});
