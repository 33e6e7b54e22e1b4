import { beforeEach, describe, expect, it, vi } from 'vitest';
import { RedisUnavailable } from '../../../../src/redis/redis-errors.js';
import { LimitFallback } from '../../../../src/throttling/limit-fallback.js';
import { ReplicaCount } from '../../../../src/throttling/redis/replica-count.js';
import { turn } from '../../../support/moved-time.js';
import { FakeRedis } from '../fake-redis.js';

const EVERY_MS = 5_000;

let redis: FakeRedis;
let fallback: LimitFallback;
let count: ReplicaCount;

beforeEach(() => {
  vi.useFakeTimers();
  redis = new FakeRedis();
  fallback = new LimitFallback();
  count = new ReplicaCount(redis, fallback);
});

const beats = (): number => redis.sent.filter(({ name }) => name !== 'ZREM').length;

describe('the number of replicas', () => {
  it('is read as soon as Redis is available, and every five seconds from then on', async () => {
    redis.answer = () => 3;
    expect([fallback.replicas, vi.getTimerCount()]).toEqual([1, 0]);
    redis.comeBack();
    await turn();
    expect([fallback.replicas, beats()]).toEqual([3, 1]);
    redis.answer = () => 2;
    await turn(EVERY_MS - 1);
    expect(beats()).toBe(1);
    await turn(1);
    expect([fallback.replicas, beats()]).toEqual([2, 2]);
    const ids = redis.sent.map(({ args }) => args.join());
    expect(new Set(ids).size).toBe(1);
    expect(redis.sent[0]).toMatchObject({ keys: ['chat:replicas'], args: [expect.stringMatching(/^[\da-f-]{36}$/)] });
  });

  it('is read by one timer, however often Redis reconnects', async () => {
    redis.comeBack();
    redis.comeBack();
    await turn();
    expect([beats(), vi.getTimerCount()]).toEqual([2, 1]);
  });

  it('stays what it was while Redis is unavailable, and is one at least', async () => {
    redis.answer = () => 3;
    redis.comeBack();
    await turn();
    redis.failure = new RedisUnavailable('gone', false);
    await turn(EVERY_MS);
    expect(fallback.replicas).toBe(3);
    redis.failure = undefined;
    redis.answer = () => 0;
    await turn(EVERY_MS);
    expect(fallback.replicas).toBe(1);
  });

  it('is without a replica that leaves, at once and for good', async () => {
    redis.comeBack();
    await turn();
    const [{ args } = { args: [] }] = redis.sent;
    await count.leave();
    expect(redis.of('ZREM')).toMatchObject([{ keys: ['chat:replicas'], args }]);
    expect(vi.getTimerCount()).toBe(0);
    redis.comeBack();
    await turn(2 * EVERY_MS);
    expect([beats(), vi.getTimerCount()]).toEqual([1, 0]);
  });

  it('lets a replica leave without Redis', async () => {
    redis.goAway(new RedisUnavailable('gone', false));
    await expect(count.leave()).resolves.toBeUndefined();
  });

  it('does not keep the process alive', () => {
    vi.useRealTimers();
    redis.comeBack();
    const timer = Reflect.get(count, 'timer') as NodeJS.Timeout;
    expect(timer.hasRef()).toBe(false);
    clearInterval(timer);
  });
});
