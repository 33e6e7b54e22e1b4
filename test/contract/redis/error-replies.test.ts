import { Logger } from '@nestjs/common';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RedisConnection } from '../../../src/platform/redis/redis-connection.js';
import { RedisUnavailable } from '../../../src/platform/redis/redis-errors.js';
import { ScriptedRedis } from '../../support/scripted-redis.js';
import { waitFor } from '../../support/wait-for.js';

/** Longer than two probes. */
const PROBES_MS = 1_200;

describe('an error reply of Redis', () => {
  let redis: ScriptedRedis;
  let connection: RedisConnection;
  let outages: string[];

  beforeEach(async () => {
    outages = [];
    vi.spyOn(Logger.prototype, 'log').mockReturnValue();
    vi.spyOn(Logger.prototype, 'warn').mockImplementation((line: string) => {
      outages.push(/^Redis is unavailable \((.*)\): each replica/.exec(line)?.[1] ?? line);
    });
    redis = await ScriptedRedis.start();
    connection = new RedisConnection(redis.url);
    await connection.onModuleInit();
    await waitFor(() => !connection.isUnavailable, 'Redis to be available');
  });
  afterEach(async () => {
    await connection.onApplicationShutdown();
    await redis.stop();
    vi.restoreAllMocks();
  });

  const write = () => connection.run('key', (client) => client.set('key', 'value'));
  const read = () => connection.run('key', (client) => client.get('key'));

  it('that every write gets makes Redis unavailable until a write succeeds, and is logged once', async () => {
    const refusals = [
      "OOM command not allowed when used memory > 'maxmemory'.",
      "READONLY You can't write against a read only replica.",
      "NOPERM this user has no permissions to run the 'set' command",
      "ERR The user executing the script can't run this command or subcommand script: 0dad6322, on @user_script:3.",
      'LOADING Redis is loading the dataset in memory',
      'MISCONF Redis is configured to save RDB snapshots, but it is currently unable to persist to disk.',
    ];
    await Promise.all(refusals.map(checkRefusal));
    expect(outages.toSorted()).toEqual(refusals.toSorted());
  });

  async function checkRefusal(refusal: string): Promise<void> {
    const refusing = await ScriptedRedis.start();
    const refused = new RedisConnection(refusing.url);
    await refused.onModuleInit();
    await waitFor(() => !refused.isUnavailable, 'Redis to be available');
    const set = () => refused.run('key', (client) => client.set('key', 'value'));
    refusing.refusal = refusal;
    await expect(set(), refusal).rejects.toBeInstanceOf(RedisUnavailable);

    await wait(PROBES_MS);
    expect(refused.isUnavailable, refusal).toBe(true);
    const get = refused.run('key', (client) => client.get('key'));
    await expect(get, refusal).rejects.toBeInstanceOf(RedisUnavailable);
    // At most one new connection for each probe.
    expect(refusing.connections, refusal).toBeLessThan(8);

    refusing.refusal = undefined;
    await waitFor(() => !refused.isUnavailable, `Redis to be available again after ${refusal}`);
    await expect(set(), refusal).resolves.toBe('OK');
    await refused.onApplicationShutdown();
    await refusing.stop();
  }

  it('that the probe does not get makes Redis unavailable for longer and longer', async () => {
    redis.refusalOfGet = "NOPERM this user has no permissions to run the 'get' command";
    const times: number[] = [];
    while (times.length < 4) {
      await read().catch(() => undefined);
      if (outages.length > times.length) times.push(performance.now());
      await wait(20);
    }
    const [, second = 0, third = 0, fourth = 0] = times;
    // The first return has no delay, the next ones 1 s and 2 s. Without them, Redis would come and go several times a second.
    expect(third - second).toBeGreaterThan(900);
    expect(fourth - third).toBeGreaterThan(1_900);
  }, 60_000);

  it('of a server of a cluster says how REDIS_URL must be', async () => {
    redis.refusalOfGet = 'MOVED 12539 127.0.0.1:7002';
    redis.refusal = 'MOVED 12539 127.0.0.1:7002';
    await expect(read()).rejects.toBeInstanceOf(RedisUnavailable);
    await wait(PROBES_MS);
    expect(connection.isUnavailable).toBe(true);
    expect(outages).toEqual([expect.stringContaining('REDIS_URL must be redis+cluster://')]);
  });

  it('of a server of a cluster says the same at the start', async () => {
    // Its own check, every two seconds, would find the refusal too.
    await connection.onApplicationShutdown();
    redis.refusal = 'MOVED 6602 127.0.0.1:7002';
    const late = new RedisConnection(redis.url);
    await late.onModuleInit();
    await late.onApplicationShutdown();
    expect(outages).toEqual([expect.stringContaining('REDIS_URL must be redis+cluster://')]);
  });

  it('is found by the check of the readiness probe', async () => {
    await connection.check();
    redis.refusal = 'READONLY';
    await expect(connection.check()).rejects.toThrow('READONLY');
  });

  it('about one key only fails this command', async () => {
    redis.refusalOfGet = 'WRONGTYPE Operation against a key holding the wrong kind of value';
    await expect(read()).rejects.toThrow('WRONGTYPE');
    expect(connection.isUnavailable).toBe(false);
    await expect(write()).resolves.toBe('OK');
    expect(outages).toEqual([]);
  });
});
