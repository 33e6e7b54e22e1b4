import { describe, expect, it } from 'vitest';
import { RedisCacheStore } from '../../../src/models/redis-cache-store.js';
import type { RedisConnection } from '../../../src/redis/redis-connection.js';
import { RedisUnavailable } from '../../../src/redis/redis-unavailable.js';

describe('the cache in Redis', () => {
  it('keeps a value for its time in milliseconds, or without an end', async () => {
    const sent: unknown[] = [];
    const client = { set: (...args: unknown[]) => Promise.resolve(sent.push(args)) };
    const store = new RedisCacheStore({
      run: (_: string, commands: (to: typeof client) => Promise<unknown>) => commands(client),
    } as unknown as RedisConnection);

    await store.set('models', 'a', 600_000);
    await store.set('models', 'b');

    expect(sent).toEqual([
      ['chat:cache::models', 'a', { expiration: { type: 'PX', value: 600_000 } }],
      ['chat:cache::models', 'b', {}],
    ]);
  });

  it('finds nothing and does not fail while Redis is unavailable', async () => {
    const store = new RedisCacheStore({
      run: () => Promise.reject(new RedisUnavailable('gone', false)),
    } as unknown as RedisConnection);

    expect(await store.get('models')).toBeUndefined();
    await expect(store.set('models', 'a', 1)).resolves.toBeUndefined();
    expect(await store.delete('models')).toBe(false);
  });
});
