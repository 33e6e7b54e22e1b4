import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readSentinelUrl } from '../../src/config/sources/sentinel-url.js';
import { RedisConnection } from '../../src/redis/redis-connection.js';
import { redisServer, SentinelGroup } from '../support/redis-sentinel.js';
import { waitFor } from '../support/wait-for.js';

describe('the URL of a Sentinel group', () => {
  it('has the Sentinels, the master and the database', () => {
    expect(readSentinelUrl('redis+sentinel://ada:p%40ss@one:26379,two/ours/3?port=6380')).toEqual({
      sentinels: [
        { host: 'one', port: 26_379 },
        { host: 'two', port: 26_379 },
      ],
      master: 'ours',
      port: 6380,
      username: 'ada',
      password: 'p@ss',
      database: 3,
    });
  });

  it.each(['redis+sentinel://one', 'redis+sentinel:///ours', 'redis+sentinel://one/ours/x', 'redis://one'])(
    'is not %s',
    (url) => {
      expect(readSentinelUrl(url)).toBeUndefined();
    },
  );
});

describe.skipIf(redisServer === undefined)('Redis with Sentinel', () => {
  let group: SentinelGroup;
  let redis: RedisConnection;

  beforeAll(async () => {
    group = await SentinelGroup.start();
    redis = new RedisConnection(group.url);
    await redis.onModuleInit();
  });
  afterAll(async () => {
    await redis.onApplicationShutdown();
    await group.stop();
  });

  it('is used at the address of the master, also after a failover', async () => {
    expect(redis.isUnavailable).toBe(false);
    await redis.run((client) => client.set('before', '1'));
    const subscriber = redis.client.duplicate();
    subscriber.on('error', () => undefined);
    const heard: string[] = [];
    await subscriber.connect();
    await subscriber.subscribe('news', (message) => heard.push(message));
    await redis.run((client) => client.wait(1, 1000));

    await group.killMaster();
    await waitFor(() => redis.isUnavailable, 'the outage');
    await waitFor(() => !redis.isUnavailable, 'the new master', 30_000);

    // While the group agrees on its master, the connection may break once more.
    const kept = await waitFor(
      () => redis.run((client) => client.get('before')).catch(() => undefined),
      'an answer of the new master',
    );
    expect(kept).toBe('1');
    await redis.run((client) => client.set('after', '1'));
    await waitFor(async () => {
      await redis.run((client) => client.publish('news', 'hello')).catch(() => undefined);
      return heard.length > 0;
    }, 'the subscriber to hear of the new master');
    subscriber.destroy();
  });
});
