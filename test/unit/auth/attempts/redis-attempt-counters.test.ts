import { beforeEach, describe, expect, it, vi } from 'vitest';
import { RedisAttemptCounters } from '../../../../src/auth/attempts/redis-attempt-counters.js';
import { RedisUnavailable } from '../../../../src/platform/redis/redis-errors.js';
import type { RedisConnection } from '../../../../src/platform/redis/redis-connection.js';

const AWAY = new RedisUnavailable('No answer.', true);
const BROKEN = new Error('The program of Redis has an error.');

/** A connection with only the commands of a memory. Fails with `failure`. */
class FakeRedis {
  readonly calls: unknown[][] = [];
  readonly stored = new Set<string>();
  failure: Error | undefined;
  readonly client = {
    exists: (key: string) => {
      this.calls.push(['exists', key]);
      return Promise.resolve(this.stored.has(key) ? 1 : 0);
    },
    set: (...args: [key: string, value: string, unit: string, seconds: number]) => {
      this.calls.push(['set', ...args]);
      this.stored.add(args[0]);
      return Promise.resolve('OK');
    },
  };

  async run<T>(_: string, command: (client: object) => Promise<T>): Promise<T> {
    await Promise.resolve();
    if (this.failure !== undefined) throw this.failure;
    return command(this.client);
  }
}

describe('counters in Redis', () => {
  const LIMIT = { name: 'test', attempts: 2, withinSeconds: 60 };
  let redis: FakeRedis;
  let counters: RedisAttemptCounters;

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'] });
    redis = new FakeRedis();
    counters = new RedisAttemptCounters(redis as unknown as RedisConnection);
  });

  describe('as a memory', () => {
    it('remember a key for the given time, in one slot of a cluster', async () => {
      const memory = counters.memory('known', 60);
      expect(await memory.has('ada')).toBe(false);
      await memory.add('ada');
      expect(await memory.has('ada')).toBe(true);
      expect(redis.calls).toEqual([
        ['exists', 'chat:known:{ada}'],
        ['set', 'chat:known:{ada}', '1', 'EX', 60],
        ['exists', 'chat:known:{ada}'],
      ]);
    });

    it('keep in this process what was added, for as long, while Redis is unavailable', async () => {
      const memory = counters.memory('known', 60);
      await memory.add('ada');
      redis.failure = AWAY;
      await memory.add('bob');
      vi.setSystemTime(Date.now() + 59_999);
      expect([await memory.has('ada'), await memory.has('bob'), await memory.has('eve')]).toEqual([true, true, false]);
      vi.setSystemTime(Date.now() + 1);
      expect([await memory.has('ada'), await memory.has('bob')]).toEqual([false, false]);
    });

    it('believe Redis alone while it answers', async () => {
      const memory = counters.memory('known', 60);
      await memory.add('ada');
      redis.stored.clear();
      expect(await memory.has('ada')).toBe(false);
    });

    it('keep the memories of different names apart', async () => {
      const [one, other] = [counters.memory('one', 60), counters.memory('other', 60)];
      await one.add('ada');
      expect(await other.has('ada')).toBe(false);
      redis.failure = AWAY;
      expect([await one.has('ada'), await other.has('ada')]).toEqual([true, false]);
    });

    it('fail with any other error of Redis', async () => {
      const memory = counters.memory('known', 60);
      redis.failure = BROKEN;
      await expect(memory.has('ada')).rejects.toBe(BROKEN);
      await expect(memory.add('ada')).rejects.toBe(BROKEN);
    });
  });

  it('count in this process while Redis is unavailable, and refund there', async () => {
    const counter = counters.counter(LIMIT);
    redis.failure = AWAY;
    const first = await counter.count('ada');
    const second = await counter.count('ada');
    const third = await counter.count('ada');
    expect([first.allowed, second.allowed, third.allowed]).toEqual([true, true, false]);
    expect((await counter.count('bob')).allowed).toBe(true);
    if (first.allowed) await first.withdraw();
    expect((await counter.count('ada')).allowed).toBe(true);
    expect((await counter.count('ada')).allowed).toBe(false);
  });

  it('refuse no attempt, and count none, because of any other error of Redis', async () => {
    redis.failure = BROKEN;
    await expect(counters.counter(LIMIT).count('ada')).rejects.toBe(BROKEN);
  });
});
