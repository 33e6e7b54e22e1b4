import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { TierLimits } from '../../../src/platform/config/limits/limit-table.js';
import { LEASE_MS } from '../../../src/throttling/redis/account-scripts.js';
import { limitsOf } from '../../../src/throttling/account-limits.js';
import { testRedis, type TestRedis } from '../../support/redis.js';
import { waitFor } from '../../support/wait-for.js';
import { openExactly, type OpenedStore } from './limit-stores.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const LIMITS = { requestsPerMinute: 5, concurrentStreams: 5, tokensPerDay: 50 };
const KINDS = ['use', 'streams', 'tokens'] as const;

const redis = await testRedis();

describe.skipIf(redis === undefined)('the keys of limits in Redis', () => {
  const { client, url, drop } = redis as TestRedis;
  let opened: OpenedStore;
  let accountId: string;

  beforeAll(async () => {
    opened = await openExactly(url);
  });
  beforeEach(() => {
    accountId = randomUUID();
  });
  afterEach(() => {
    vi.useRealTimers();
  });
  afterAll(async () => {
    await opened.close();
    await drop();
  });

  const admit = async (limits: TierLimits) => {
    await waitFor(() => opened.isExact(), 'Redis to answer');
    const admission = await opened.store.admit({
      accountId,
      limits: limitsOf(limits),
      tokens: { atLeast: 5, atMost: 5 },
    });
    if (!admission.admitted) throw new Error(`Refused by ${admission.refusedBy}.`);
    return admission.lease;
  };
  /** As if the keys had almost expired. */
  const age = () => Promise.all(KINDS.map((kind) => client.pExpire(`chat:{${accountId}}:${kind}`, 20_000)));
  /** How long each key lives, in milliseconds. */
  const lifetimes = async () => {
    const [use = 0, streams = 0, tokens = 0] = await Promise.all(
      KINDS.map((kind) => client.pTTL(`chat:{${accountId}}:${kind}`)),
    );
    return { use, streams, tokens };
  };
  /** The ends of the leases of streams and of tokens. */
  const expiries = async () => {
    const kinds = ['streams', 'tokens'].map((kind) => client.zRangeWithScores(`chat:{${accountId}}:${kind}`, 0, -1));
    return (await Promise.all(kinds)).flat().map(({ score }) => score);
  };
  /** What expires in time: the leases soon, and the tokens of the day after the day. */
  const expectWhole = ({ use, streams, tokens }: Awaited<ReturnType<typeof lifetimes>>) => {
    for (const ofLeases of [streams, tokens]) {
      expect(ofLeases).toBeGreaterThan(LEASE_MS);
      expect(ofLeases).toBeLessThanOrEqual(2 * LEASE_MS);
    }
    expect(use).toBeGreaterThan(DAY_MS - (Date.now() % DAY_MS));
    expect(use).toBeLessThanOrEqual(DAY_MS + 2 * LEASE_MS);
  };

  it('live as long as the leases and the day, from the first admission and from each further one', async () => {
    await admit(LIMITS);
    expectWhole(await lifetimes());
    await age();
    await admit(LIMITS);
    expectWhole(await lifetimes());
  });

  it('live longer with each renewal of the leases, which hold as long, slots and tokens', async () => {
    await opened.close();
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    opened = await openExactly(url);
    await admit(LIMITS);
    for (let round = 0; round < 2; round++) {
      await age();
      const before = await expiries();
      expect(before).toHaveLength(2);
      vi.advanceTimersByTime(LEASE_MS / 3);
      let rounds = 0;
      await waitFor(async () => {
        // A busy Redis can miss a renewal. The next one is as good.
        if (++rounds % 100 === 0) vi.advanceTimersByTime(LEASE_MS / 3);
        const after = await expiries();
        return after.every((expiry, index) => expiry > (before[index] ?? Infinity));
      }, 'the leases to be renewed');
      await waitFor(async () => (await lifetimes()).streams > 20_000, 'their keys to live longer');
      expectWhole(await lifetimes());
    }
  });

  it('keep the tokens of the day after a settlement', async () => {
    const lease = await admit(LIMITS);
    await client.del(KINDS.map((kind) => `chat:{${accountId}}:${kind}`));
    lease.settle(7);
    await waitFor(async () => (await lifetimes()).use > 0, 'the settlement');
    expect((await lifetimes()).use).toBeGreaterThan(DAY_MS - (Date.now() % DAY_MS));
  });

  it('count a replica for as long as its heartbeats arrive, and 15 seconds more', async () => {
    const lifetime = () => client.pTTL('chat:replicas');
    await waitFor(async () => (await lifetime()) !== -2, 'the first heartbeat');
    expect(await lifetime()).toBeGreaterThan(0);
    expect(await lifetime()).toBeLessThanOrEqual(15_000);
  });

  it('no longer count a replica without a heartbeat for 15 seconds', async () => {
    const [seconds] = await client.time();
    const now = 1_000 * Number(seconds);
    await client.zAdd('chat:replicas', [
      { value: 'dead', score: now - 16_000 },
      { value: 'slow', score: now },
    ]);
    const other = await openExactly(url);
    await waitFor(() => other.fallback.replicas > 1, 'the replicas to be counted');
    expect(await client.zRange('chat:replicas', 0, -1)).not.toContain('dead');
    expect(await client.zRange('chat:replicas', 0, -1)).toContain('slow');
    await other.close();
  });

  it('live until shortly after the minute in a tier that limits only requests', async () => {
    await admit({ requestsPerMinute: 5 });
    await age();
    await admit({ requestsPerMinute: 5 });
    const { use, streams, tokens } = await lifetimes();
    expect([streams, tokens]).toEqual([-2, -2]);
    expect(use).toBeGreaterThan(MINUTE_MS);
    expect(use).toBeLessThanOrEqual(MINUTE_MS + 2 * LEASE_MS);
  });
});
