import { ErrorReply } from '@redis/client';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RedisUnavailable, RedisTimeout } from '../../../src/redis/redis-errors.js';
import { ServerLink } from '../../../src/redis/server-link.js';
import { restoreDelays, moveDelays } from '../../support/moved-delays.js';
import { stopTime, turn } from '../../support/moved-time.js';
import { ScriptedRedis } from '../../support/scripted-redis.js';
import { runningTimers } from '../../support/timer-watch.js';
import { waitFor } from '../../support/wait-for.js';

const PATIENCE = { timeout: 30_000 };

const PROBES_MS = 1_200;

let redis: ScriptedRedis;
let link: ServerLink;
let ups: number;
let downs: string[];
let locate: () => Promise<{ url: string }>;

beforeEach(async () => {
  redis = await ScriptedRedis.start();
  ups = 0;
  downs = [];
  locate = () => Promise.resolve({ url: redis.url });
  link = new ServerLink({
    locate: () => locate(),
    probeKey: () => 'probe',
    onUp: () => (ups += 1),
    onDown: (reason) => downs.push(reason),
  });
});
afterEach(async () => {
  vi.restoreAllMocks();
  await link.close();
  await redis.stop();
  expect([...runningTimers().keys()].filter((place) => place.includes('/redis/'))).toEqual([]);
});

async function opened(): Promise<void> {
  link.start();
  await link.opened();
}
const isUp = () => waitFor(() => link.isUp, 'the server to be available');
const get = () => link.send((client) => client.get('key'));
const failing = (error: Error) => link.send(() => Promise.reject(error)).catch((thrown: unknown) => thrown);

describe('the link to a server', () => {
  it('is up when the server has done a write', async () => {
    expect([link.state, link.isUp, link.isOpen]).toEqual(['opening', false, false]);
    await Promise.all([opened(), link.opened()]);
    expect([link.state, link.isUp, link.isOpen, ups, downs]).toEqual(['up', true, true, 1, []]);
    expect(redis.commands).toContain('EVALSHA');
    expect(await get()).toBe('OK');
    // There was no outage so far.
    expect(link.availableSince).toBe(-Infinity);
  });

  it('fails at once before there is a connection, with nothing sent', async () => {
    const error = await get().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RedisUnavailable);
    expect(error).toMatchObject({ message: 'not connected yet', wasSent: false });
    await expect(link.query((client) => client.get('key'))).rejects.toMatchObject({ wasSent: false });
  });

  it('is down when there is no server, and up when there is one', async () => {
    locate = () => Promise.reject(new Error('nobody knows'));
    await opened();
    expect([link.state, downs]).toEqual(['down', ['nobody knows']]);
    locate = () => Promise.resolve({ url: redis.url });
    await isUp();
    expect([ups, downs.length]).toEqual([1, 1]);
    expect(performance.now() - link.availableSince).toBeLessThan(10_000);
  });

  it('is tried again after a delay, which grows to a second, and begins anew after a success', async () => {
    const pauses = moveDelays();
    vi.spyOn(Math, 'random').mockReturnValue(1);
    let failures = 7;
    locate = () => (failures-- > 0 ? Promise.reject(new Error('nobody knows')) : Promise.resolve({ url: redis.url }));
    link.start();
    await turn(10_000);
    await vi.waitFor(() => {
      expect(link.isUp).toBe(true);
    }, PATIENCE);
    redis.cut();
    await vi.waitFor(() => {
      expect(redis.connections).toBe(2);
    }, PATIENCE);
    await link.close();
    restoreDelays();
    expect(pauses.map(([ms]) => ms)).toEqual([50, 100, 200, 400, 800, 1_000, 1_000, 50]);
  });

  it('is down while its connection is lost, and connects again', async () => {
    await opened();
    redis.cut();
    await waitFor(() => link.state === 'down', 'the loss');
    await isUp();
    expect([redis.connections, ups, downs.length]).toEqual([2, 2, 1]);
  });

  it('is down when the server answers nothing, and gets a new connection', async () => {
    await opened();
    redis.isSilent = true;
    const error = await get().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'RedisUnavailable', wasSent: true });
    expect(downs).toEqual(['no reply in time']);
    redis.isSilent = false;
    await isUp();
    expect(redis.connections).toBe(2);
  });

  it('is down when the server answers nothing, although commands beyond the limit fail at once', async () => {
    await opened();
    redis.isSilent = true;
    const refused = setInterval(() => void failing(new Error('The queue is full')), 50);
    await get().catch(() => undefined);
    clearInterval(refused);
    expect(downs).toEqual(['no reply in time']);
  });

  it('stays up while the server refuses some commands only', async () => {
    await opened();
    const reply = new ErrorReply('WRONGTYPE');
    expect(await failing(reply)).toBe(reply);
    const unknown = new ErrorReply('NOSCRIPT No matching script');
    expect(await failing(unknown)).toBe(unknown);
    const full = await failing(new Error('The queue is full'));
    expect(full).toBeInstanceOf(RedisTimeout);
    expect(full).toMatchObject({ name: 'RedisTimeout', wasSent: false });
    expect(link.isUp).toBe(true);
  });

  it('passes on what is no error', async () => {
    await opened();
    const refused = { msBeforeNext: 7 };
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
    await expect(link.send(() => Promise.reject(refused))).rejects.toBe(refused);
    expect(link.isUp).toBe(true);
  });

  it.each([new ErrorReply('OOM command not allowed'), new Error('Socket closed')])(
    'is down after: %s',
    async (error) => {
      await opened();
      const thrown = await failing(error);
      expect(thrown).toMatchObject({ name: 'RedisUnavailable', wasSent: true, cause: error });
      expect([link.state, downs]).toEqual(['down', [error.message]]);
      expect(await get().catch((late: unknown) => late)).toMatchObject({ wasSent: false, message: error.message });
    },
  );

  it('gets a new connection while the server refuses writes: after a failover, another may answer', async () => {
    redis.refusal = 'READONLY';
    await opened();
    await waitFor(() => redis.connections > 1, 'a new connection');
    await redis.isLeftWith(1);
    expect(downs).toEqual(['READONLY']);
  });

  it('closes a connection that the client has given up', async () => {
    await opened();
    await link.send((client) => {
      client.emit('error', new Error('a push that nobody knows'));
      return Promise.resolve();
    });
    expect(downs).toEqual(['a push that nobody knows']);
    await isUp();
    expect(redis.connections).toBe(2);
    await redis.isLeftWith(1);
  });

  it('runs queries although the server refuses writes', async () => {
    redis.refusal = 'READONLY';
    await opened();
    expect(link.isUp).toBe(false);
    await waitFor(() => link.isOpen, 'the connection');
    expect(await link.query((client) => client.get('key'))).toBe('OK');
  });

  it('reports a new master like a server that came back', async () => {
    link.takeOver();
    expect(ups).toBe(0);
    await opened();
    link.takeOver();
    expect(ups).toBe(2);
    expect(performance.now() - link.availableSince).toBeLessThan(10_000);
  });

  it('is checked every two seconds', async () => {
    stopTime();
    await opened();
    const checks = () => redis.commands.filter((name) => name === 'EVALSHA').length;
    const before = checks();
    for (let halfSeconds = 0; halfSeconds < 20; halfSeconds++) {
      await turn(500);
      // Answers come in order, so the check has its answer, too.
      await get();
    }
    await link.close();
    vi.useRealTimers();
    expect(checks() - before).toBe(5);
  });

  it('notices by itself that the server refuses writes', async () => {
    await opened();
    redis.refusal = 'OOM command not allowed';
    await waitFor(() => link.state === 'down', 'the check');
    expect(downs).toEqual(['OOM command not allowed']);
  });
});

describe('a link that is closed', () => {
  it('sends, probes and connects no more', async () => {
    await opened();
    await link.close();
    await redis.isLeftWith(0);
    const before = redis.commands.length;
    await wait(PROBES_MS);
    expect([redis.commands.length - before, redis.connections, downs]).toEqual([0, 1, []]);
  });

  it('waits for the answers that are on their way', async () => {
    await opened();
    redis.delayMs = 100;
    const answer = get();
    await link.close();
    expect(await answer).toBe('OK');
    await redis.isLeftWith(0);
  });

  it('waits a quarter of a second for a server that does not answer', async () => {
    await opened();
    redis.isSilent = true;
    const asked = get().catch((error: unknown) => error);
    await link.close();
    expect(await asked).toBeInstanceOf(Error);
    await redis.isLeftWith(0);
  });

  it('closes a connection that comes too late', async () => {
    let found: (address: { url: string }) => void = () => undefined;
    locate = () => new Promise((resolve) => (found = resolve));
    link.start();
    await link.close();
    found({ url: redis.url });
    await waitFor(() => redis.connections === 1, 'the late connection');
    await redis.isLeftWith(0);
    expect([link.isOpen, ups, downs]).toEqual([false, 0, []]);
  });

  it('has timers that do not keep the process alive', async () => {
    await opened();
    const keepAlive = [...runningTimers({ keepAlive: true }).keys()].filter((place) => place.includes('/redis/'));
    expect(keepAlive).toEqual([]);
  });
});
