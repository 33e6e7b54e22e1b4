import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RedisConnection } from '../../../src/platform/redis/redis-connection.js';
import { RedisTimeout, RedisUnavailable } from '../../../src/platform/redis/redis-errors.js';
import { ScriptedRedis } from '../../support/scripted-redis.js';
import { runningTimers } from '../../support/timer-watch.js';
import { waitFor } from '../../support/wait-for.js';

let redis: ScriptedRedis;
let connection: RedisConnection;
let lines: string[];

beforeEach(async () => {
  lines = [];
  vi.spyOn(Logger.prototype, 'log').mockReturnValue();
  vi.spyOn(Logger.prototype, 'warn').mockImplementation((line: string) => void lines.push(line));
  redis = await ScriptedRedis.start();
  connection = new RedisConnection(redis.url);
});
afterEach(async () => {
  await connection.onApplicationShutdown();
  await redis.isLeftWith(0);
  await redis.stop();
  vi.restoreAllMocks();
  const left = [...runningTimers().keys()].filter((place) => /\/redis\/|ioredis|outage-log/.test(place));
  expect(left).toEqual([]);
});

const isUp = () => waitFor(() => !connection.isUnavailable, 'Redis to be available');
const get = () => connection.run('key', (client) => client.get('key'));

describe('the connection to Redis', () => {
  it('fails at once before it is open, with nothing sent', async () => {
    await expect(get()).rejects.toMatchObject({ name: 'RedisUnavailable', wasSent: false });
    expect([redis.connections, connection.availableForMs('key')]).toEqual([0, 0]);
  });

  it('is available when the server has done a write, and was never unavailable then', async () => {
    let backs = 0;
    connection.whenBack(() => backs++);
    await connection.onModuleInit();
    expect([connection.isUnavailable, backs, connection.availableForMs('key')]).toEqual([false, 1, Infinity]);
    expect(redis.commands).toContain('EVALSHA');
    expect(await get()).toBe('OK');
  });

  it('is unavailable while it is lost, fails at once, and connects again', async () => {
    await connection.onModuleInit();
    redis.isSilent = true;
    redis.cut();
    await waitFor(() => connection.isUnavailable, 'the loss');
    const asked = redis.commands.filter((name) => name === 'GET').length;
    await expect(get()).rejects.toBeInstanceOf(RedisUnavailable);
    expect(redis.commands.filter((name) => name === 'GET')).toHaveLength(asked);
    redis.isSilent = false;
    await isUp();
    expect(connection.availableForMs('key')).toBeLessThan(10_000);
  });

  it('is replaced within four seconds when the server answers nothing', async () => {
    await connection.onModuleInit();
    redis.isSilent = true;
    await expect(get()).rejects.toMatchObject({ name: 'RedisUnavailable', message: 'no reply in time', wasSent: true });
    redis.isSilent = false;
    const startedAt = performance.now();
    await isUp();
    expect(performance.now() - startedAt).toBeLessThan(4_000);
    expect(redis.connections).toBe(2);
    expect(lines).toEqual([expect.stringContaining('Redis is unavailable (no reply in time)')]);
  });

  it('is replaced within four seconds when the commands that set it up get no answer', async () => {
    const other = new RedisConnection(redis.url.replace('redis://', 'redis://ada:secret@') + '/3');
    await other.onModuleInit();
    redis.silentConnections = redis.connections + 1;
    redis.cut();
    await waitFor(() => redis.connections === redis.silentConnections, 'the connection that gets no answer');
    const startedAt = performance.now();
    await waitFor(() => !other.isUnavailable, 'Redis to be available');
    expect(performance.now() - startedAt).toBeLessThan(4_000);
    await other.onApplicationShutdown();
  });

  it('is not replaced for a reply that comes late while others come in time', async () => {
    await connection.onModuleInit();
    const late = connection.run('key', () => new Promise(() => undefined));
    const others = setInterval(() => void get().catch(() => undefined), 50);
    await expect(late).rejects.toBeInstanceOf(RedisTimeout);
    clearInterval(others);
    expect([connection.isUnavailable, redis.connections]).toEqual([false, 1]);
  });

  it('gets a new one while the server refuses writes: after a failover, another may answer', async () => {
    redis.refusal = 'READONLY';
    await connection.onModuleInit();
    await waitFor(() => redis.connections > 1, 'a new connection');
    redis.refusal = undefined;
    await isUp();
  });

  it('passes on what is no error', async () => {
    await connection.onModuleInit();
    const refused = { msBeforeNext: 7 };
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
    await expect(connection.run('key', () => Promise.reject(refused))).rejects.toBe(refused);
    expect(connection.isUnavailable).toBe(false);
  });

  it('notices by itself that the server refuses writes', async () => {
    await connection.onModuleInit();
    redis.refusal = 'OOM command not allowed';
    await waitFor(() => connection.isUnavailable, 'the check');
  });

  it('waits at its end for the replies that are on their way', async () => {
    await connection.onModuleInit();
    redis.delayMs = 100;
    const answer = get();
    await connection.onApplicationShutdown();
    expect(await answer).toBe('OK');
  });

  it('uses the credentials and the database of the URL', async () => {
    const other = new RedisConnection(redis.url.replace('redis://', 'redis://ada:p%40ss@') + '/3');
    await other.onModuleInit();
    await other.onApplicationShutdown();
    expect(redis.commands).toEqual(expect.arrayContaining(['AUTH', 'SELECT']));
  });

  it('has timers that do not keep the process alive', async () => {
    await connection.onModuleInit();
    const keepAlive = [...runningTimers({ keepAlive: true }).keys()].filter((place) => place.includes('/redis/'));
    expect(keepAlive).toEqual([]);
  });
});
