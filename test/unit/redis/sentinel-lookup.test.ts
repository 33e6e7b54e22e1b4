import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HostAndPort } from '../../../src/config/sources/redis-url.js';
import type { ServerAddress } from '../../../src/redis/redis-client.js';
import { findMaster } from '../../../src/redis/sentinel-lookup.js';
import { ScriptedRedis } from '../../support/scripted-redis.js';
import { startSilentServer } from '../../support/silent-server.js';

const LOGIN = { username: undefined, password: undefined };
const MASTER = '*2\r\n$8\r\n10.0.0.7\r\n$4\r\n6380\r\n';
const NOBODY = '*-1\r\n';

let sentinels: ScriptedRedis[];

beforeEach(async () => {
  sentinels = [await ScriptedRedis.start(), await ScriptedRedis.start()];
});
afterEach(async () => {
  await Promise.all(sentinels.map((sentinel) => sentinel.isLeftWith(0)));
  for (const sentinel of sentinels) await sentinel.stop();
});

function answer(...replies: string[]): void {
  for (const [index, reply] of replies.entries()) {
    const sentinel = sentinels[index];
    if (sentinel !== undefined) sentinel.replies['SENTINEL'] = reply;
  }
}
const asked = (): number[] => sentinels.map(({ commands }) => commands.filter((name) => name === 'SENTINEL').length);
const find = (...before: HostAndPort[]): Promise<ServerAddress> =>
  findMaster({
    kind: 'sentinel',
    master: 'chat',
    sentinels: [...before, ...sentinels.map(({ port }) => ({ host: '127.0.0.1', port }))],
    sentinelCredentials: LOGIN,
    credentials: { username: 'service', password: 'secret' },
    database: 3,
    tls: false,
  });

describe('the master that Sentinel names', () => {
  it('is that of the first one that knows it, with the login of the master', async () => {
    answer(MASTER, MASTER);
    expect(await find()).toEqual({
      at: { host: '10.0.0.7', port: 6380 },
      tls: false,
      credentials: { username: 'service', password: 'secret' },
      database: 3,
    });
    expect(asked()).toEqual([1, 0]);
  });

  it.each([
    ['does not know it', NOBODY],
    ['fails', '-ERR loading\r\n'],
    ['does not answer within a second', ''],
  ])('is that of the next one if the first one %s', async (_, reply) => {
    answer(reply, MASTER);
    expect(await find()).toMatchObject({ at: { host: '10.0.0.7', port: 6380 } });
    expect(asked()).toEqual([1, 1]);
  });

  it('is not waited for longer if a Sentinel accepts the connection and does not even answer the login', async () => {
    answer(NOBODY, NOBODY);
    const silent = await startSilentServer();
    const [host = '', port] = silent.authority.split(':');
    await expect(find({ host, port: Number(port) })).rejects.toThrow(`(${silent.authority}: no reply; `);
    await silent.stop();
  });

  it('is unknown if none knows it, each for its reason', async () => {
    answer(NOBODY, '-ERR loading\r\n');
    const [one, other] = sentinels.map(({ port }) => `127.0.0.1:${port}`);
    await expect(find()).rejects.toThrow(
      `no Sentinel knows the master chat (${one ?? ''}: unknown; ${other ?? ''}: ERR loading)`,
    );
  });
});
