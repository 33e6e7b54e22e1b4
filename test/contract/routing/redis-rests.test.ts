import { Logger } from '@nestjs/common';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi, type Mock } from 'vitest';
import type { RouteConfig, UpstreamConfig } from '../../../src/config/config.js';
import { openRedis } from '../../../src/redis/open-redis.js';
import type { RedisConnection } from '../../../src/redis/redis-connection.js';
import { providerFailure, type FailureScope } from '../../../src/upstreams/contract/provider-failure.js';
import { RedisRests } from '../../../src/upstreams/routing/redis-rests.js';
import { RouteStates } from '../../../src/upstreams/routing/route-states.js';
import { testRedis } from '../../support/redis.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { waitFor } from '../../support/wait-for.js';

const FAST: RouteConfig = routeTo('acme', 'fast');
const SLOW: RouteConfig = routeTo('acme', 'slow 2');
const REST_SECONDS = 60;
/** The way through Redis, on a busy machine. */
const SLACK_MS = 10_000;

interface Replica {
  readonly states: RouteStates;
  readonly redis: RedisConnection;
  close(): Promise<void>;
}

const redis = await testRedis();

describe.skipIf(redis === undefined)('the rests that replicas share', () => {
  const opened: Replica[] = [];
  let proxy: TcpProxy;
  let warn: Mock;

  beforeEach(async () => {
    proxy = await TcpProxy.start(redis?.port ?? 0);
    warn = vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined) as Mock;
    vi.spyOn(Logger.prototype, 'log').mockImplementation(() => undefined);
    await redis?.client.del('chat:rests');
  });
  afterEach(async () => {
    proxy.restore();
    await Promise.all(opened.splice(0).map((one) => one.close()));
    await proxy.stop();
    vi.restoreAllMocks();
  });
  afterAll(() => redis?.drop());

  async function open(url = redis?.url ?? ''): Promise<Replica> {
    const connection = openRedis(url);
    const rests = new RedisRests(connection);
    const states = new RouteStates(rests);
    await connection.onModuleInit();
    rests.onApplicationBootstrap();
    const replica = {
      states,
      redis: connection,
      async close() {
        rests.onApplicationShutdown();
        await connection.onApplicationShutdown();
      },
    };
    opened.push(replica);
    return replica;
  }
  const openBehindProxy = () => open(`redis://127.0.0.1:${proxy.port}/${redis?.database ?? 0}`);
  const subscribers = async (): Promise<number> => {
    const channel = `chat:rests:${redis?.database ?? 0}`;
    return (await redis?.client.pubSubNumSub([channel]))?.[channel] ?? 0;
  };
  const areSubscribed = (count: number) =>
    waitFor(async () => (await subscribers()) === count, `${count} subscriptions`);
  const rest = ({ states }: Replica, route = FAST, retryAfterSeconds = REST_SECONDS, scope: FailureScope = 'route') => {
    const use = states.of(route).begin();
    use.fail(providerFailure('upstream_unavailable', 'HTTP 429', { retryAfterSeconds, scope }));
    use.end();
  };
  const waitMs = ({ states }: Replica, route = FAST): number => states.of(route).waitMs;
  const rests = (replica: Replica, route = FAST) => waitFor(() => waitMs(replica, route) > 0, 'the rest to arrive');
  const pauses = () => warn.mock.calls.filter(([entry]) => (entry as { msg?: string }).msg === 'Requests pause');

  it('begin at the other replicas at once, and last as long', async () => {
    const [one, other] = [await open(), await open()];
    await areSubscribed(2);

    rest(one);

    await rests(other);
    expect(waitMs(other)).toBeLessThanOrEqual(REST_SECONDS * 1000);
    expect(Math.abs(waitMs(one) - waitMs(other))).toBeLessThan(SLACK_MS);
    expect(waitMs(other, SLOW)).toBe(0);
  });

  it('hold for all models of an upstream if they tell about the upstream', async () => {
    const [one, other] = [await open(), await open()];
    await areSubscribed(2);
    rest(one, FAST, REST_SECONDS, 'upstream');
    await rests(other, SLOW);
    expect(waitMs(other, routeTo('backup', 'fast'))).toBe(0);
  });

  it('may be of a model with spaces in its name', async () => {
    const [one, other] = [await open(), await open()];
    await areSubscribed(2);
    rest(one, SLOW);
    await rests(other, SLOW);
    expect(waitMs(other, FAST)).toBe(0);
  });

  it('are neither longer nor told twice at the replica that brought them', async () => {
    const [one, other] = [await open(), await open()];
    await areSubscribed(2);
    rest(one);
    const untilAtMost = waitMs(one) + performance.now();

    await rests(other);
    // The messages of one channel arrive in order, so the first message has arrived, too.
    rest(other, SLOW);
    await rests(one, SLOW);

    const untilAtLeast = performance.now() + waitMs(one);
    expect(untilAtLeast).toBeLessThanOrEqual(untilAtMost);
    expect(pauses()).toHaveLength(4);
  });

  it('are known to a replica that starts later, for the rest of their time', async () => {
    const one = await open();
    rest(one);
    await waitFor(async () => ((await redis?.client.zCard('chat:rests')) ?? 0) > 0, 'the rest to be stored');

    const late = await open();

    await rests(late);
    // The message of Redis may be late, but the time does not begin anew.
    expect(waitMs(late)).toBeLessThanOrEqual(waitMs(one) + 1_000);
  });

  it('are stored for five minutes at most', async () => {
    const one = await open();
    rest(one, FAST, 3_600);
    await waitFor(async () => ((await redis?.client.zCard('chat:rests')) ?? 0) > 0, 'the rest to be stored');
    expect(waitMs(one)).toBeLessThanOrEqual(300_000);
    expect(await redis?.client.pTTL('chat:rests')).toBeLessThanOrEqual(300_000);
  });

  it('do not reach the replicas on another database of the same Redis', async () => {
    const other = await testRedis();
    const [one, stranger, friend] = [await open(), await open(other?.url), await open()];
    await areSubscribed(2);
    rest(one);
    await rests(friend);
    expect(waitMs(stranger)).toBe(0);
    await stranger.close();
    opened.splice(opened.indexOf(stranger), 1);
    await other?.drop();
  });

  it('that a replica missed while it was cut off are read when Redis is back', async () => {
    const [one, other] = [await open(), await openBehindProxy()];
    await areSubscribed(2);
    proxy.cut();
    await waitFor(() => other.redis.isUnavailable, 'Redis to be away');
    await areSubscribed(1);
    rest(one);
    await waitFor(async () => ((await redis?.client.zCard('chat:rests')) ?? 0) > 0, 'the rest to be stored');
    expect(waitMs(other)).toBe(0);

    proxy.restore();

    await rests(other);
  });

  it('are heard once after the subscription was lost many times', async () => {
    const [one, other] = [await open(), await openBehindProxy()];
    const heard: string[] = [];
    const listener = other.states as unknown as { shared: RedisRests };
    listener.shared.subscribe((key) => heard.push(key));
    await areSubscribed(2);
    for (let round = 0; round < 3; round++) {
      proxy.cut();
      await areSubscribed(1);
      proxy.restore();
      await areSubscribed(2);
      await waitFor(() => !other.redis.isUnavailable, 'Redis to be back');
    }
    rest(one);
    await rests(other);
    rest(one, SLOW);
    await rests(other, SLOW);
    // The replica may read the first rest twice: while it catches up after the last loss, and from its subscription.
    expect(heard.filter((key) => key === 'acme slow 2')).toHaveLength(1);
  });

  describe('while Redis is unavailable', () => {
    it('are kept by each replica alone, and nothing fails', async () => {
      const one = await openBehindProxy();
      proxy.cut();
      await waitFor(() => one.redis.isUnavailable, 'Redis to be away');
      rest(one);
      expect(waitMs(one)).toBeGreaterThan(0);
    });

    it('do not hold up the start or the stop of a replica', async () => {
      proxy.cut();
      const startedAt = performance.now();
      const one = await openBehindProxy();
      rest(one);
      await one.close();
      opened.splice(opened.indexOf(one), 1);
      expect(performance.now() - startedAt).toBeLessThan(SLACK_MS);
    });

    it('do not hold up the stop when Redis no longer answers', async () => {
      const one = await openBehindProxy();
      await areSubscribed(1);
      proxy.stall();
      const startedAt = performance.now();
      await one.close();
      opened.splice(opened.indexOf(one), 1);
      expect(performance.now() - startedAt).toBeLessThan(SLACK_MS);
    });
  });
});

function routeTo(name: string, model: string): RouteConfig {
  return { upstream: { name } as UpstreamConfig, model, temperature: true, priority: 1, weight: 1 };
}
