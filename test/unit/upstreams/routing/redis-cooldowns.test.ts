import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RedisCooldowns } from '../../../../src/upstreams/routing/redis-cooldowns.js';
import { RedisUnavailable } from '../../../../src/redis/redis-errors.js';
import { stopTime, turn } from '../../../support/moved-time.js';
import { FakeRedis } from '../../throttling/fake-redis.js';

const READ_EVERY_MS = 250;
const AWAY = new RedisUnavailable('away', false);

let redis: FakeRedis;
/** What Redis has: keys and remaining milliseconds. */
let stored: string[];
let received: [string, number][];
let cooldowns: RedisCooldowns;

beforeEach(() => {
  stopTime();
  redis = new FakeRedis();
  stored = [];
  redis.answer = () => stored;
  received = [];
  cooldowns = new RedisCooldowns(redis);
  cooldowns.subscribe((key, ms) => received.push([key, ms]));
});
afterEach(() => {
  cooldowns.onApplicationShutdown();
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

async function started(): Promise<void> {
  cooldowns.onApplicationBootstrap();
  await turn();
}

describe('the cooldowns of all replicas', () => {
  it('are read at the start, and then four times a second', async () => {
    stored = ['acme fast', '7000'];
    await started();
    expect(received).toEqual([['acme fast', 7_000]]);
    stored = ['acme fast', '6000', 'acme smart one', '500'];
    await turn(READ_EVERY_MS - 1);
    expect(received).toHaveLength(1);
    await turn(1);
    expect(received.slice(1)).toEqual([['acme smart one', 500]]);
  });

  it('are reported again only when they have become longer by a second', async () => {
    stored = ['acme fast', '7000'];
    await started();
    stored = ['acme fast', '6999'];
    await turn(1_000);
    expect(received).toHaveLength(1);
    await turn(READ_EVERY_MS);
    expect(received).toHaveLength(2);
  });

  it('are not reported to the replica that has published them', async () => {
    cooldowns.publish('acme fast', 7_000.4);
    expect(redis.sent).toMatchObject([{ keys: ['chat:cooldowns'], args: ['acme fast', '7000'] }]);
    stored = ['acme fast', '7010'];
    await started();
    expect(received).toEqual([]);
  });

  it('are read on when Redis is available again', async () => {
    redis.goAway(AWAY);
    cooldowns.publish('acme fast', 7_000);
    await started();
    await turn(5 * READ_EVERY_MS);
    redis.comeBack();
    stored = ['acme slow', '7000'];
    await turn(READ_EVERY_MS);
    expect(received).toEqual([['acme slow', 7_000]]);
  });

  it('are not read any more after the end of the service', async () => {
    await started();
    cooldowns.onApplicationShutdown();
    await turn(5 * READ_EVERY_MS);
    expect(redis.sent).toHaveLength(1);
  });
});
