import { afterAll, afterEach, expect, it, describe } from 'vitest';
import { Membership } from '../../../src/platform/redis/membership.js';
import { RedisConnection } from '../../../src/platform/redis/redis-connection.js';
import { testRedis } from '../../support/redis.js';
import { waitFor } from '../../support/wait-for.js';

const redis = await testRedis();

describe.skipIf(redis === undefined)('the members that share Redis', () => {
  const opened: { connection: RedisConnection; membership: Membership; counts: number[] }[] = [];

  async function join() {
    const connection = new RedisConnection(redis?.url ?? '');
    const membership = new Membership(connection);
    const counts: number[] = [];
    membership.whenBeaten((replicas) => counts.push(replicas));
    opened.push({ connection, membership, counts });
    await connection.onModuleInit();
    return { connection, membership, counts };
  }
  async function leave({ connection, membership }: (typeof opened)[number]): Promise<void> {
    await membership.beforeApplicationShutdown();
    await connection.onApplicationShutdown();
  }
  afterEach(() => Promise.all(opened.splice(0).map(leave)));
  afterAll(() => redis?.drop());

  it('know each other within a second, and forget one that leaves', async () => {
    const [one, other] = [await join(), await join()];
    const areKnown = () => one.membership.isAlive(other.membership.id) && one.counts.at(-1) === 2;
    // A heartbeat a second, and what a busy machine takes.
    await waitFor(areKnown, 'both to be known', 3_000);
    opened.pop();
    await leave(other);
    await waitFor(() => !one.membership.isAlive(other.membership.id) && one.counts.at(-1) === 1, 'one to be left');
    expect(one.membership.isAlive(one.membership.id)).toBe(true);
  });

  it('forget one whose heartbeat has ended', async () => {
    const one = await join();
    await redis?.client.zAdd('chat:replicas', { score: Date.now() - 20_000, value: 'dead' });
    await redis?.client.zAdd('chat:replicas', { score: Date.now(), value: 'alive' });
    await one.membership.beat();
    expect([one.membership.isAlive('dead'), one.membership.isAlive('alive')]).toEqual([false, true]);
  });

  it('can leave without Redis', async () => {
    const membership = new Membership(new RedisConnection('redis://127.0.0.1:1'));
    await expect(membership.beforeApplicationShutdown()).resolves.toBeUndefined();
  });
});
