import { expect, it } from 'vitest';
import { connectTo } from '../../../src/redis/redis-client.js';
import { ScriptedRedis } from '../../support/scripted-redis.js';

it('a connection has limits for its commands, its set-up and its idle time, and does not reconnect by itself', async () => {
  const redis = await ScriptedRedis.start();
  const client = await connectTo({ url: redis.url });
  expect(client.options).toMatchObject({
    disableOfflineQueue: true,
    commandsQueueMaxLength: 20_000,
    socket: { connectTimeout: 2_000, socketTimeout: 15_000, reconnectStrategy: false },
  });
  client.destroy();
  await redis.stop();
});

it('a connection to a master that Sentinel has named uses the database of the URL', async () => {
  const redis = await ScriptedRedis.start();
  const at = { host: '127.0.0.1', port: redis.port };
  const credentials = { username: undefined, password: undefined };
  const client = await connectTo({ at, tls: false, credentials, database: 3 });
  expect(redis.commands).toContain('SELECT');
  client.destroy();
  await redis.stop();
});

it('connections share a class, so that a try to connect during an outage costs little', async () => {
  const redis = await ScriptedRedis.start();
  const clients = [await connectTo({ url: redis.url }), await connectTo({ url: redis.url })];
  const [first, second] = clients.map((client) => client.constructor);
  expect(first).toBe(second);
  for (const client of clients) client.destroy();
  await redis.stop();
});
