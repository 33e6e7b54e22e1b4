import { Logger } from '@nestjs/common';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi, type Mock } from 'vitest';
import type { RouteConfig, UpstreamConfig } from '../../../src/platform/config/config.js';
import { RedisConnection } from '../../../src/platform/redis/redis-connection.js';
import { providerFailure, type FailureScope } from '../../../src/upstreams/contract/provider-failure.js';
import { RedisCooldowns } from '../../../src/upstreams/routing/redis-cooldowns.js';
import { RouteStates } from '../../../src/upstreams/routing/route-states.js';
import { testRedis } from '../../support/redis.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { waitFor } from '../../support/wait-for.js';

const FAST: RouteConfig = routeTo('acme', 'fast');
const SLOW: RouteConfig = routeTo('acme', 'slow 2');
const COOLDOWN_SECONDS = 60;
/** The way through Redis, on a busy machine. */
const SLACK_MS = 10_000;

interface Replica {
  readonly states: RouteStates;
  readonly redis: RedisConnection;
  close(): Promise<void>;
}

const redis = await testRedis();

describe.skipIf(redis === undefined)('the cooldowns that replicas share', () => {
  const opened: Replica[] = [];
  let proxy: TcpProxy;
  let warn: Mock;

  beforeEach(async () => {
    proxy = await TcpProxy.start(redis?.port ?? 0);
    warn = vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined) as Mock;
    vi.spyOn(Logger.prototype, 'log').mockImplementation(() => undefined);
    await redis?.client.del('chat:cooldowns');
  });
  afterEach(async () => {
    proxy.restore();
    await Promise.all(opened.splice(0).map((one) => one.close()));
    await proxy.stop();
    vi.restoreAllMocks();
  });
  afterAll(() => redis?.drop());

  async function open(url = redis?.url ?? ''): Promise<Replica> {
    const connection = new RedisConnection(url);
    const cooldowns = new RedisCooldowns(connection);
    const states = new RouteStates(cooldowns);
    await connection.onModuleInit();
    cooldowns.onApplicationBootstrap();
    const replica = {
      states,
      redis: connection,
      async close() {
        cooldowns.onApplicationShutdown();
        await connection.onApplicationShutdown();
      },
    };
    opened.push(replica);
    return replica;
  }
  const openBehindProxy = () => open(`redis://127.0.0.1:${proxy.port}/${redis?.database ?? 0}`);
  const coolDown = (
    { states }: Replica,
    route = FAST,
    retryAfterSeconds = COOLDOWN_SECONDS,
    scope: FailureScope = 'route',
  ) => {
    const failure = providerFailure('upstream_unavailable', 'HTTP 429', { retryAfterSeconds, scope });
    states.of(route).begin().onEnd({ type: 'failed', failure });
  };
  const waitMs = ({ states }: Replica, route = FAST): number => states.of(route).waitMs;
  const coolsDown = (replica: Replica, route = FAST) =>
    waitFor(() => waitMs(replica, route) > 0, 'the cooldown to arrive');
  const openedCircuits = () =>
    warn.mock.calls.filter(([entry]) => (entry as { msg?: string }).msg === 'Circuit opened');

  it('begin at the other replicas within seconds, and last as long', async () => {
    const [one, other] = [await open(), await open()];

    coolDown(one);

    await coolsDown(other);
    expect(waitMs(other)).toBeLessThanOrEqual(COOLDOWN_SECONDS * 1000);
    expect(Math.abs(waitMs(one) - waitMs(other))).toBeLessThan(SLACK_MS);
    expect(waitMs(other, SLOW)).toBe(0);
  });

  it('hold for all models of an upstream if they concern the upstream', async () => {
    const [one, other] = [await open(), await open()];
    coolDown(one, FAST, COOLDOWN_SECONDS, 'upstream');
    await coolsDown(other, SLOW);
    expect(waitMs(other, routeTo('backup', 'fast'))).toBe(0);
  });

  it('end at all replicas when an operator closes the circuit, and can begin again', async () => {
    const [one, other] = [await open(), await open()];
    coolDown(one);
    await coolsDown(other);
    other.states.close('acme', 'fast');
    expect(waitMs(other)).toBe(0);
    await waitFor(() => waitMs(one) === 0, 'the closing to arrive');
    const late = await open();
    coolDown(late, SLOW);
    await coolsDown(one, SLOW);
    expect([one, other, late].map((replica) => waitMs(replica))).toEqual([0, 0, 0]);
    coolDown(one);
    await coolsDown(other);
  });

  it('can be of a model with spaces in its name', async () => {
    const [one, other] = [await open(), await open()];
    coolDown(one, SLOW);
    await coolsDown(other, SLOW);
    expect(waitMs(other, FAST)).toBe(0);
  });

  it('are neither longer nor reported twice at the replica that published them', async () => {
    const [one, other] = [await open(), await open()];
    coolDown(one);
    const untilAtMost = waitMs(one) + performance.now();

    await coolsDown(other);
    // One read returns all cooldowns, so the own one has arrived, too.
    coolDown(other, SLOW);
    await coolsDown(one, SLOW);

    const untilAtLeast = performance.now() + waitMs(one);
    expect(untilAtLeast).toBeLessThanOrEqual(untilAtMost);
    expect(openedCircuits()).toHaveLength(4);
  });

  it('are known to a replica that starts later, for their remaining time', async () => {
    const one = await open();
    coolDown(one);
    await waitFor(async () => ((await redis?.client.zCard('chat:cooldowns')) ?? 0) > 0, 'the cooldown to be stored');

    const late = await open();

    await coolsDown(late);
    // The message of Redis may be late, but the time does not begin anew.
    expect(waitMs(late)).toBeLessThanOrEqual(waitMs(one) + 1_000);
  });

  it('are stored until the end of the longest, whichever came last', async () => {
    const cooldowns = new RedisCooldowns((await open()).redis);
    cooldowns.publish('acme/fast', 60_000);
    cooldowns.publish('acme/fast', 1_000);
    cooldowns.publish('acme/slow', 30_000);
    await waitFor(async () => (await redis?.client.zCard('chat:cooldowns')) === 2, 'the cooldowns to be stored');
    expect(await redis?.client.zRange('chat:cooldowns', 0, -1)).toEqual(['acme/slow', 'acme/fast']);
  });

  it('are stored for five minutes at most', async () => {
    const one = await open();
    coolDown(one, FAST, 3_600);
    await waitFor(async () => ((await redis?.client.zCard('chat:cooldowns')) ?? 0) > 0, 'the cooldown to be stored');
    expect(waitMs(one)).toBeLessThanOrEqual(300_000);
    expect(await redis?.client.pTTL('chat:cooldowns')).toBeGreaterThan(0);
    expect(await redis?.client.pTTL('chat:cooldowns')).toBeLessThanOrEqual(300_000);
  });

  it('do not reach the replicas on another database of the same Redis', async () => {
    const other = await testRedis();
    const [one, stranger, friend] = [await open(), await open(other?.url), await open()];
    coolDown(one);
    await coolsDown(friend);
    expect(waitMs(stranger)).toBe(0);
    await stranger.close();
    opened.splice(opened.indexOf(stranger), 1);
    await other?.drop();
  });

  it('are read when Redis is available again by a replica that missed them', async () => {
    const [one, other] = [await open(), await openBehindProxy()];
    proxy.cut();
    await waitFor(() => other.redis.isUnavailable, 'Redis to be unavailable');
    coolDown(one);
    await waitFor(async () => ((await redis?.client.zCard('chat:cooldowns')) ?? 0) > 0, 'the cooldown to be stored');
    expect(waitMs(other)).toBe(0);

    proxy.restore();

    await coolsDown(other);
  });

  describe('while Redis is unavailable', () => {
    it('are applied by each replica alone, and nothing fails', async () => {
      const one = await openBehindProxy();
      proxy.cut();
      await waitFor(() => one.redis.isUnavailable, 'Redis to be unavailable');
      coolDown(one);
      expect(waitMs(one)).toBeGreaterThan(0);
    });

    it('do not hold up the start or the stop of a replica', async () => {
      proxy.cut();
      const startedAt = performance.now();
      const one = await openBehindProxy();
      coolDown(one);
      await one.close();
      opened.splice(opened.indexOf(one), 1);
      expect(performance.now() - startedAt).toBeLessThan(SLACK_MS);
    });

    it('do not hold up the stop when Redis no longer answers', async () => {
      const one = await openBehindProxy();
      proxy.stall();
      const startedAt = performance.now();
      await one.close();
      opened.splice(opened.indexOf(one), 1);
      expect(performance.now() - startedAt).toBeLessThan(SLACK_MS);
    });
  });
});

function routeTo(name: string, model: string): RouteConfig {
  return { upstream: { name } as UpstreamConfig, model, unsupportedOptions: [], priority: 1, weight: 1 };
}
