import { expect, it } from 'vitest';
import type { RedisConnection } from '../../../../src/platform/redis/redis-connection.js';
import { RedisHealth } from '../../../../src/platform/redis/redis-health.js';
import { RedisUnavailable, RedisTimeout } from '../../../../src/platform/redis/redis-errors.js';

it.each<[string, (() => Promise<void>) | undefined, boolean | undefined]>([
  ['is unknown without Redis', undefined, undefined],
  ['is good when the check works', () => Promise.resolve(), true],
  ['is bad when Redis is unavailable', () => Promise.reject(new RedisUnavailable('gone', true)), false],
  ['is good when Redis is only slow', () => Promise.reject(new RedisTimeout(true)), true],
])('the health of Redis %s', async (_, check, health) => {
  expect(await new RedisHealth(check && ({ check } as RedisConnection)).ping()).toBe(health);
});
