import { Logger } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RedisConnection } from '../../../src/platform/redis/redis-connection.js';
import { RedisTimeout, RedisUnavailable } from '../../../src/platform/redis/redis-errors.js';
import { testRedis } from '../../support/redis.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { runningTimers } from '../../support/timer-watch.js';
import { waitFor } from '../../support/wait-for.js';

/** Longer than two probes. */
const PROBES_MS = 1_200;
const redis = await testRedis();

describe.skipIf(redis === undefined)('the connection to Redis', () => {
  const user = `test-${randomUUID()}`;
  let proxy: TcpProxy;
  let connection: RedisConnection;
  let outages: string[];

  /** Allows the user of the connection, or forbids it, some commands. */
  const permit = (...rules: string[]) => redis?.client.sendCommand(['ACL', 'SETUSER', user, ...rules]);

  beforeEach(async () => {
    outages = [];
    vi.spyOn(Logger.prototype, 'log').mockReturnValue();
    vi.spyOn(Logger.prototype, 'warn').mockImplementation((line: string) => {
      outages.push(/^Redis is unavailable \((.*)\): each replica/.exec(line)?.[1] ?? line);
    });
    await permit('reset', 'on', '>p@ss', '~*', '&*', '+@all');
    proxy = await TcpProxy.start(redis?.port ?? 0);
    connection = new RedisConnection(`redis://${user}:p%40ss@127.0.0.1:${proxy.port}/${redis?.database ?? 0}`);
  });
  afterEach(async () => {
    await connection.onApplicationShutdown();
    await waitFor(() => proxy.portsAtTarget.length === 0, 'the connections to be closed');
    await proxy.stop();
    vi.restoreAllMocks();
    const left = [...runningTimers().keys()].filter((place) => /\/redis\/|ioredis|outage-log/.test(place));
    expect(left).toEqual([]);
  });
  afterAll(async () => {
    await redis?.client.sendCommand(['ACL', 'DELUSER', user]);
    await redis?.drop();
  });

  const isDown = () => waitFor(() => connection.isUnavailable, 'Redis to be unavailable');
  const isUp = () => waitFor(() => !connection.isUnavailable, 'Redis to be available');
  const get = () => connection.run('chat:key', (client) => client.get('chat:key'));
  const set = () => connection.run('chat:key', (client) => client.set('chat:key', 'value'));
  /** A command that gets this error reply. */
  const refusedWith = (reply: string) =>
    connection.run('chat:key', (client) => client.eval('return redis.error_reply(ARGV[1])', 0, reply));

  it('fails at once before it is open, with nothing sent', async () => {
    await expect(get()).rejects.toMatchObject({ name: 'RedisUnavailable', wasSent: false });
    expect([proxy.portsAtTarget, connection.availableForMs('chat:key')]).toEqual([[], 0]);
  });

  it('is available when the server has done a write, was never unavailable then, and has timers that end with the process', async () => {
    let backs = 0;
    connection.whenBack(() => backs++);
    await connection.onModuleInit();
    expect([connection.isUnavailable, backs, connection.availableForMs('chat:key')]).toEqual([false, 1, Infinity]);
    expect(await set()).toBe('OK');
    expect(await redis?.client.get('chat:key')).toBe('value');
    const keepAlive = [...runningTimers({ keepAlive: true }).keys()].filter((place) => place.includes('/redis/'));
    expect(keepAlive).toEqual([]);
  });

  it('is unavailable while it is lost, fails at once, and connects again', async () => {
    await connection.onModuleInit();
    proxy.cut();
    await isDown();
    await expect(get()).rejects.toMatchObject({ name: 'RedisUnavailable', wasSent: false });
    proxy.restore();
    await isUp();
    expect(connection.availableForMs('chat:key')).toBeLessThan(10_000);
  });

  it('is replaced within four seconds when nothing comes back on it, also while it is set up', async () => {
    await connection.onModuleInit();
    const [first] = proxy.portsAtTarget;
    proxy.stall();
    await expect(get()).rejects.toMatchObject({ name: 'RedisUnavailable', message: 'no reply in time', wasSent: true });
    await waitFor(() => proxy.portsAtTarget.some((port) => port !== first), 'a connection that gets no answer');
    proxy.abandon();
    proxy.restore();
    const startedAt = performance.now();
    await isUp();
    expect(performance.now() - startedAt).toBeLessThan(4_000);
    expect(outages).toEqual(['no reply in time']);
  });

  it('is not replaced for a reply that comes late while others come in time', async () => {
    await connection.onModuleInit();
    const ports = proxy.portsAtTarget;
    const late = connection.run('chat:key', () => new Promise(() => undefined));
    const others = setInterval(() => void get().catch(() => undefined), 50);
    await expect(late).rejects.toBeInstanceOf(RedisTimeout);
    clearInterval(others);
    expect([connection.isUnavailable, proxy.portsAtTarget]).toEqual([false, ports]);
  });

  it('passes on what is no error', async () => {
    await connection.onModuleInit();
    const refused = { msBeforeNext: 7 };
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
    await expect(connection.run('chat:key', () => Promise.reject(refused))).rejects.toBe(refused);
    expect(connection.isUnavailable).toBe(false);
  });

  it('waits at its end for the replies that are on their way', async () => {
    await connection.onModuleInit();
    const slow = connection.run('chat:key', (client) => client.blpop('chat:nothing', 0.1));
    await connection.onApplicationShutdown();
    expect(await slow).toBeNull();
  });

  it('is unavailable while the server refuses writes, connects again meanwhile, and logs this once', async () => {
    await connection.onModuleInit();
    const ports = proxy.portsAtTarget;
    await permit('-@write');
    await expect(set()).rejects.toBeInstanceOf(RedisUnavailable);
    await wait(PROBES_MS);
    expect(connection.isUnavailable).toBe(true);
    await expect(get()).rejects.toBeInstanceOf(RedisUnavailable);
    // After a failover, another server may answer.
    expect(proxy.portsAtTarget).not.toEqual(ports);

    await permit('+@write');
    await isUp();
    expect(await set()).toBe('OK');
    expect(outages).toEqual([expect.stringContaining('NOPERM')]);
  });

  it('notices by itself that the server refuses writes', async () => {
    await connection.onModuleInit();
    await connection.check();
    await permit('-@write');
    await isDown();
    expect(outages).toEqual([expect.stringContaining("can't run this command")]);
    await expect(connection.check()).rejects.toBeInstanceOf(RedisUnavailable);
  });

  it('becomes unavailable for longer and longer by a refusal that its probe does not get', async () => {
    await connection.onModuleInit();
    await permit('-get');
    const times: number[] = [];
    while (times.length < 4) {
      await get().catch(() => undefined);
      if (outages.length > times.length) times.push(performance.now());
      await wait(20);
    }
    const [, second = 0, third = 0, fourth = 0] = times;
    // The first return has no delay, the next ones 1 s and 2 s. Without them, Redis would come and go several times a second.
    expect(third - second).toBeGreaterThan(900);
    expect(fourth - third).toBeGreaterThan(1_900);
  }, 60_000);

  it.each([
    ["OOM command not allowed when used memory > 'maxmemory'.", undefined],
    ["READONLY You can't write against a read only replica.", undefined],
    ["ERR The user executing the script can't run this command or subcommand script: 0dad6322.", undefined],
    ['LOADING Redis is loading the dataset in memory', undefined],
    ['MISCONF Redis is configured to save RDB snapshots, but it is currently unable to persist to disk.', undefined],
    ['MOVED 12539 127.0.0.1:7002', 'REDIS_URL must be redis+cluster://'],
  ])('is unavailable after the error reply %j', async (reply, logged = reply) => {
    await connection.onModuleInit();
    await expect(refusedWith(reply)).rejects.toBeInstanceOf(RedisUnavailable);
    expect(outages).toEqual([expect.stringContaining(logged)]);
  });

  it('stays available after an error reply about one key', async () => {
    await connection.onModuleInit();
    await connection.run('chat:key', (client) => client.del('chat:key'));
    await connection.run('chat:key', (client) => client.lpush('chat:key', 'value'));
    await expect(get()).rejects.toThrow('WRONGTYPE');
    expect([connection.isUnavailable, outages]).toEqual([false, []]);
    expect(await set()).toBe('OK');
  });
});
