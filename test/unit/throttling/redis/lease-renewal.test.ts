import { beforeEach, describe, expect, it, vi } from 'vitest';
import { RedisUnavailable } from '../../../../src/redis/redis-errors.js';
import { RENEW } from '../../../../src/throttling/redis/account-scripts.js';
import { LeaseRenewal, type RenewedLease } from '../../../../src/throttling/redis/lease-renewal.js';
import { turn } from '../../../support/moved-time.js';
import { FakeRedis } from '../fake-redis.js';

const EVERY_MS = 8_000;

let redis: FakeRedis;
let renewal: LeaseRenewal;

beforeEach(() => {
  vi.useFakeTimers();
  redis = new FakeRedis();
  renewal = new LeaseRenewal(redis);
});

const add = (id: string, accountId = 'ada', reserved?: number): RenewedLease => {
  const lease = { id, accountId, holdsSlot: true, reserved };
  renewal.add(lease);
  return lease;
};

describe('leases', () => {
  it('are renewed every eight seconds, those of an account together', async () => {
    add('a1');
    add('a2', 'ada', 70);
    add('b1', 'bob', 0);
    await turn(EVERY_MS - 1);
    expect(redis.sent).toEqual([]);
    await turn(1);
    const keysOf = (account: string) => ['use', 'streams', 'tokens'].map((name) => `chat:{${account}}:${name}`);
    expect(redis.of(RENEW)).toMatchObject([
      { keys: keysOf('ada'), args: ['a1', '1', '-1', 'a2', '1', '70'] },
      { keys: keysOf('bob'), args: ['b1', '1', '0'] },
    ]);
    expect(redis.slots).toEqual(['chat:{ada}:use', 'chat:{bob}:use']);
    await turn(EVERY_MS);
    expect(redis.of(RENEW)).toHaveLength(4);
  });

  it('are renewed for what they still hold, until they hold nothing', async () => {
    const lease = add('a1', 'ada', 70);
    lease.holdsSlot = false;
    renewal.removeIfEmpty(lease);
    await turn(EVERY_MS);
    expect(redis.argsOf(RENEW)).toEqual([['a1', '0', '70']]);
    lease.reserved = undefined;
    renewal.removeIfEmpty(lease);
    await turn(EVERY_MS);
    expect(redis.of(RENEW)).toHaveLength(1);
  });

  it('that are released during a redirection are not added again', async () => {
    const [first] = [add('a1'), add('a2')];
    let resolve: () => void = () => undefined;
    redis.redirection = new Promise((done) => (resolve = done));
    await turn(EVERY_MS);
    first.holdsSlot = false;
    renewal.removeIfEmpty(first);
    resolve();
    await turn();
    expect(redis.argsOf(RENEW)).toEqual([['a2', '1', '-1']]);
  });

  it('of others of the account stay when one is over, and the account is removed after the last', async () => {
    const [first, second] = [add('a1'), add('a2')];
    const held = (): number => (Reflect.get(renewal, 'byAccount') as Map<string, unknown>).size;
    first.holdsSlot = false;
    renewal.removeIfEmpty(first);
    expect(held()).toBe(1);
    await turn(EVERY_MS);
    expect(redis.argsOf(RENEW)).toEqual([['a2', '1', '-1']]);
    second.holdsSlot = false;
    renewal.removeIfEmpty(second);
    expect(held()).toBe(0);
    renewal.removeIfEmpty(second);
    expect(held()).toBe(0);
  });

  it('are added again as soon as Redis is back', async () => {
    add('a1');
    redis.comeBack();
    await turn();
    expect(redis.argsOf(RENEW)).toEqual([['a1', '1', '-1']]);
  });

  it.each([
    [200, [100, 100]],
    [201, [100, 100, 1]],
  ])('are renewed a hundred by one command: %i', async (count, inCommands) => {
    for (let number = 0; number < count; number++) add(String(number));
    await turn(EVERY_MS);
    expect(redis.argsOf(RENEW).map((args) => args.length / 3)).toEqual(inCommands);
    expect(new Set(redis.argsOf(RENEW).flatMap((args) => args.filter((_, index) => index % 3 === 0))).size).toBe(count);
  });

  it('are renewed by a hundred commands at once', async () => {
    for (let number = 0; number < 201; number++) add('a', `account-${number}`);
    const answers: (() => void)[] = [];
    redis.answer = () => new Promise<void>((resolve) => answers.push(resolve));
    await turn(EVERY_MS);
    for (const sent of [100, 200, 201]) {
      expect(redis.of(RENEW)).toHaveLength(sent);
      for (const answer of answers) answer();
      await turn();
    }
  });

  it('are not renewed twice at once, but again when a round is over, however it ended', async () => {
    add('a1');
    let fail: (error: Error) => void = () => undefined;
    redis.answer = () => new Promise((_, reject) => (fail = reject));
    await turn(EVERY_MS);
    redis.comeBack();
    await turn();
    expect(redis.of(RENEW)).toHaveLength(1);
    fail(new RedisUnavailable('lost', true));
    await turn();
    redis.comeBack();
    await turn();
    expect(redis.of(RENEW)).toHaveLength(2);
  });

  it('are renewed by one timer, which does not keep the process alive', () => {
    vi.useRealTimers();
    add('a1');
    const timer = Reflect.get(renewal, 'timer') as NodeJS.Timeout;
    expect(timer.hasRef()).toBe(false);
    add('a2');
    expect(Reflect.get(renewal, 'timer')).toBe(timer);
    clearInterval(timer);
  });

  it('are not renewed after the end of the process', async () => {
    add('a1');
    expect(vi.getTimerCount()).toBe(1);
    renewal.onApplicationShutdown();
    await turn(2 * EVERY_MS);
    expect([redis.sent, vi.getTimerCount()]).toEqual([[], 0]);
  });
});
