import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PasswordHashing } from '../../src/accounts/passwords/password-hashing.js';
import { startService, type RunningService } from '../support/service.js';
import { SignInPagesModule } from '../support/sign-in-pages.js';
import { WebClient } from '../support/web-client.js';
import { PASSWORD } from '../support/usual-password.js';

const MINUTE_MS = 60_000;
const WRONG = 'wrong horse battery';
const ADA = 'ada@example.com';
const HOME = '198.51.100.7';

describe('attempts to sign in', () => {
  let service: RunningService;
  /** Passwords that were looked at: the work that limits save. */
  let verified: () => number;

  const from = (address: string) => new WebClient(service.origin, { 'x-forwarded-for': address });
  const statusesOf = async (count: number, attempt: (n: number) => Promise<{ readonly status: number }>) => {
    const statuses: number[] = [];
    for (let n = 0; n < count; n++) statuses.push((await attempt(n)).status);
    return statuses;
  };
  const times = (count: number, status: number) => Array.from({ length: count }, () => status);

  beforeEach(async () => {
    service = await startService({ modules: [SignInPagesModule], env: { TRUST_PROXY: '1' } });
    const hashing = service.app.get(PasswordHashing, { strict: false });
    vi.spyOn(hashing, 'hash').mockImplementation((password) => Promise.resolve(`hash of ${password}`));
    const verify = vi
      .spyOn(hashing, 'verify')
      .mockImplementation((hash, password) => Promise.resolve(hash === `hash of ${password}`));
    verified = () => verify.mock.calls.length;
    await from(HOME).signUp(ADA);
    vi.useFakeTimers({ toFake: ['Date'] });
  });
  afterEach(async () => {
    vi.useRealTimers();
    vi.restoreAllMocks();
    await service.stop();
  });

  it('are ten at one account from one network, then refused before any work, with Retry-After', async () => {
    expect(await statusesOf(10, () => from(HOME).signIn(ADA, WRONG))).toEqual(times(10, 401));
    const before = verified();

    const refused = await from(HOME).signIn(ADA);

    expect(refused.status).toBe(429);
    expect((await refused.error()).code).toBe('rate_limit_exceeded');
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(15 * 60);
    expect(verified()).toBe(before);
    vi.setSystemTime(Date.now() + 15 * MINUTE_MS);
    expect((await from(HOME).signIn(ADA)).status).toBe(303);
  });

  it('are counted for an address without an account just as for one with one', async () => {
    const answersFor = async (email: string) => {
      const answers = [];
      for (let n = 0; n < 12; n++) {
        const answer = await from(HOME).signIn(email, WRONG);
        answers.push([answer.status, (await answer.error()).message]);
      }
      return answers;
    };
    expect(await answersFor('nobody@example.com')).toEqual(await answersFor(ADA));
  });

  it('are fifty from one network, whatever accounts it tries; another network may still', async () => {
    const statuses = await statusesOf(60, (n) => from(HOME).signIn(`somebody-${n}@example.com`, WRONG));
    expect(statuses).toEqual([...times(50, 401), ...times(10, 429)]);
    expect((await from('203.0.113.9').signIn(ADA)).status).toBe(303);
  });

  it.each([
    ['an IPv6 network of 64 bits', (n: number) => `2001:db8:0:7::${(n + 1).toString(16)}`],
    ['an IPv4 address, in whichever notation', (n: number) => (n % 2 ? '192.0.2.1' : '::ffff:192.0.2.1')],
    ['what a client adds before its address itself', (n: number) => `10.0.0.${n}, 192.0.2.1`],
    ['an IPv4 address, whichever port is beside it', (n: number) => `192.0.2.1:${50_000 + n}`],
    ['an IPv6 network, whichever port is beside it', (n: number) => `"[2001:db8:0:7::${n + 1}]:${50_000 + n}"`],
    ['an IPv4 address inside of an IPv6 one', (n: number) => ['::ffff:c000:201', '64:ff9b::c000:201'][n % 2] ?? ''],
    ['an address, whichever zone is beside it', (n: number) => `fe80::1%eth${n}`],
    ['everything that is no address', (n: number) => ['unknown', `_hidden${n}`, `garbage-${n}`, `"${n}`][n % 4] ?? ''],
  ])('are counted against %s as one', async (_, addressOf) => {
    const statuses = await statusesOf(12, (n) => from(addressOf(n)).signIn(ADA, WRONG));
    expect(statuses).toEqual([...times(10, 401), ...times(2, 429)]);
  });

  it('are counted for each IPv6 network by itself', async () => {
    const statuses = await statusesOf(20, (n) => from(`2001:db8:0:${n}::1`).signIn(ADA, WRONG));
    expect(statuses).toEqual(times(20, 401));
  });

  it('are a hundred at one account from anywhere, which do not lock out an owner at home', async () => {
    const statuses = await statusesOf(105, (n) => from(`203.0.113.${n}`).signIn(ADA, WRONG));
    expect(statuses).toEqual([...times(100, 401), ...times(5, 429)]);
    expect((await from('192.0.2.77').signIn(ADA)).status).toBe(429);

    expect((await from(HOME).signIn(ADA)).status).toBe(303);
    vi.setSystemTime(Date.now() + 10 * MINUTE_MS);
    expect((await from('192.0.2.77').signIn(ADA)).status).toBe(303);
  });

  it('are five hundred from one IPv6 site of 48 bits, whatever networks of it they come from', async () => {
    const statuses = await statusesOf(510, (n) =>
      from(`2001:db8:5:${n.toString(16)}::1`).signIn(`somebody-${n}@example.com`, WRONG),
    );
    expect(statuses).toEqual([...times(500, 401), ...times(10, 429)]);
    expect((await from('2001:db8:6::1').signIn(ADA)).status).toBe(303);
  });

  it('take none of those that may fail when they succeed', async () => {
    expect(await statusesOf(70, () => from(HOME).signIn(ADA))).toEqual(times(70, 303));
    expect(await statusesOf(11, () => from(HOME).signIn(ADA, WRONG))).toEqual([...times(10, 401), 429]);
  });

  it('that succeed are a hundred at one account in a quarter of an hour, then refused before any work', async () => {
    const statuses = await statusesOf(110, (n) => from(`203.0.113.${n % 20}`).signIn(ADA));
    expect(statuses).toEqual([...times(100, 303), ...times(10, 429)]);
    expect(verified()).toBe(100);
    vi.setSystemTime(Date.now() + 15 * MINUTE_MS);
    expect((await from('203.0.113.1').signIn(ADA)).status).toBe(303);
  });

  it('that fail at an account do not count as successful, so that an attacker cannot lock out the owner', async () => {
    await statusesOf(95, (n) => from(`203.0.113.${n}`).signIn(ADA, WRONG));
    expect(await statusesOf(100, () => from(HOME).signIn(ADA))).toEqual(times(100, 303));
  });

  it('that succeed are five hundred from one network, whatever accounts they are for', async () => {
    const emails = Array.from({ length: 6 }, (_, n) => `owner-${n}@example.com`);
    for (const email of emails) await from('192.0.2.8').signUp(email);
    const statuses = await statusesOf(510, (n) => from('192.0.2.8').signIn(emails[n % 6]));
    expect(statuses).toEqual([...times(500, 303), ...times(10, 429)]);
    expect((await from(HOME).signIn(emails[0])).status).toBe(303);
  });

  it('count changes of the password that succeed, too', async () => {
    const ada = from(HOME);
    await ada.signIn(ADA);
    const statuses = await statusesOf(105, (n) =>
      ada.post('/password', { current: n === 0 ? PASSWORD : `password no. ${n}`, next: `password no. ${n + 1}` }),
    );
    // One of the hundred was the sign-in.
    expect(statuses).toEqual([...times(99, 303), ...times(6, 429)]);
  });

  it('do not count when the service could not check them', async () => {
    const hashing = service.app.get(PasswordHashing, { strict: false });
    vi.spyOn(hashing, 'verify').mockRejectedValue(new Error('no thread'));
    expect(await statusesOf(15, () => from(HOME).signIn(ADA))).toEqual(times(15, 500));
    vi.spyOn(hashing, 'verify').mockResolvedValue(true);
    expect((await from(HOME).signIn(ADA)).status).toBe(303);
  });

  it('are what tries of the current password are, to change it', async () => {
    const ada = from(HOME);
    await ada.signIn(ADA);
    const statuses = await statusesOf(12, () => ada.post('/password', { current: WRONG, next: 'another horse' }));
    expect(statuses).toEqual([...times(10, 400), ...times(2, 429)]);
  });

  it('to sign up are twenty an hour from one network, and with one address from all', async () => {
    const network = await statusesOf(22, (n) => from('192.0.2.1').signUp(`new-${n}@example.com`));
    expect(network).toEqual([...times(20, 303), ...times(2, 429)]);
    const address = await statusesOf(21, (n) => from(`203.0.113.${n}`).signUp(ADA));
    // One was that which made it.
    expect(address).toEqual([...times(19, 400), ...times(2, 429)]);
  });
});
