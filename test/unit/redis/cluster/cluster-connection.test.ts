import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ClusterConnection } from '../../../../src/redis/cluster/cluster-connection.js';
import type { LinkEvents } from '../../../../src/redis/cluster/cluster-links.js';
import type { RedisClient } from '../../../../src/redis/redis-client.js';
import type { Commands } from '../../../../src/redis/redis-connection.js';
import { RedisUnavailable, RedisTimeout } from '../../../../src/redis/redis-errors.js';
import { Latch, isOver } from '../../../support/latch.js';
import { turn } from '../../../support/moved-time.js';

const REVIEW_INTERVAL_MS = 500;
const CONNECT_MS = 2_000;
const QUERY_TIMEOUT_MS = 1_000;

/** A link whose answers the test gives. */
class Link {
  state: 'opening' | 'up' | 'down' = 'up';
  availableSince = 0;
  readonly sent: string[] = [];
  readonly answers: (() => Promise<unknown>)[] = [];
  readonly close = vi.fn<() => Promise<void>>().mockResolvedValue();
  readonly check = vi.fn<() => Promise<void>>().mockResolvedValue();
  readonly opened = vi.fn<() => Promise<void>>().mockResolvedValue();

  constructor(readonly name: string) {}

  get isUp(): boolean {
    return this.state === 'up';
  }

  get isOpen(): boolean {
    return this.isUp;
  }

  async send(commands: Commands<unknown>): Promise<unknown> {
    const client = { get: (key: string) => this.reply(key), sendCommand: ([name = '']: string[]) => this.reply(name) };
    return commands(client as unknown as RedisClient);
  }

  private reply(what: string): Promise<unknown> {
    this.sent.push(what);
    if (what === 'ASKING') return Promise.resolve('OK');
    return this.answers.shift()?.() ?? Promise.resolve(`of ${this.name}`);
  }
}

let one: Link;
let other: Link;
let links: ReturnType<typeof fakeLinks>;
let connection: ClusterConnection;
let events: LinkEvents;
let notified: string[];

function fakeLinks() {
  return {
    isWhole: true,
    lastFailure: 'one: gone',
    all: [one, other],
    masters: [one, other],
    of: vi.fn((key: string): Link | undefined => (key === 'unknown' ? undefined : one)),
    at: vi.fn(() => other),
    move: vi.fn((slot: number) => {
      links.of.mockImplementation(() => (slot === 7 ? other : one));
    }),
    refresh: vi.fn<() => Promise<void>>().mockResolvedValue(),
    close: () => Promise.all([one.close(), other.close()]),
  };
}

beforeEach(() => {
  vi.useFakeTimers();
  for (const level of ['log', 'warn'] as const) vi.spyOn(Logger.prototype, level).mockReturnValue();
  [one, other] = [new Link('one'), new Link('other')];
  links = fakeLinks();
  notified = [];
  connection = new ClusterConnection({
    kind: 'cluster',
    seeds: [],
    tls: false,
    credentials: { username: undefined, password: undefined },
  });
  events = Reflect.get(Reflect.get(connection, 'links') as object, 'events') as LinkEvents;
  Reflect.set(connection, 'links', links);
  connection.whenBack(() => notified.push('back'));
  connection.whenUnavailable(() => notified.push('unavailable'));
});
afterEach(async () => {
  await connection.onApplicationShutdown();
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const get = (key = 'key'): Promise<unknown> => connection.run(key, (client) => client.get(key));
const failed = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);
const refusing = (message: string) => () => Promise.reject(new Error(message));
const warnings = (): number => vi.mocked(Logger.prototype.warn).mock.calls.length;
const ends = (): number => vi.mocked(Logger.prototype.log).mock.calls.length;

describe('a command', () => {
  it('goes to the server of its key', async () => {
    expect(await get()).toBe('of one');
    expect([one.sent, other.sent]).toEqual([['key'], []]);
  });

  it('fails at once where no server is known', async () => {
    const error = await failed(get('unknown'));
    expect(error).toBeInstanceOf(RedisUnavailable);
    expect(error).toMatchObject({ message: 'one: gone', wasSent: false });
  });

  it('follows a slot that has moved, and updates the map', async () => {
    one.answers.push(refusing('MOVED 7 10.0.0.2:6379'));
    expect(await get()).toBe('of other');
    expect(links.move.mock.calls).toEqual([[7, { host: '10.0.0.2', port: 6379 }, one]]);
    expect([one.sent, other.sent]).toEqual([['key'], ['key']]);
  });

  it('follows a slot to a server with an IPv6 address', async () => {
    one.answers.push(refusing('MOVED 7 2001:db8::2:6379'));
    expect(await get()).toBe('of other');
    expect(links.move.mock.calls).toEqual([[7, { host: '2001:db8::2', port: 6379 }, one]]);
  });

  it('follows a slot that moves at this moment, once, and the map does not change', async () => {
    one.answers.push(refusing('ASK 7 10.0.0.2:6379'));
    expect(await get()).toBe('of other');
    expect(links.at.mock.calls).toEqual([[{ host: '10.0.0.2', port: 6379 }, one]]);
    expect([other.sent, links.move.mock.calls]).toEqual([['ASKING', 'key'], []]);
    other.sent.length = 0;
    one.answers.push(refusing('ASK 7 10.0.0.2:6379'));
    other.answers.push(refusing('MOVED 8 10.0.0.1:6379'));
    expect(await get()).toBe('of one');
  });

  it('waits 25 ms for keys that are on two servers', async () => {
    one.answers.push(refusing('TRYAGAIN Multiple keys'), refusing('TRYAGAIN Multiple keys'));
    vi.useRealTimers();
    const startedAt = performance.now();
    expect(await get()).toBe('of one');
    expect(performance.now() - startedAt).toBeGreaterThan(45);
    expect(one.sent).toHaveLength(3);
    vi.useFakeTimers();
  });

  it('is slow after ten redirections', async () => {
    links.move.mockReturnValue();
    for (let number = 0; number < 12; number++) one.answers.push(refusing('MOVED 8 10.0.0.1:6379'));
    const error = await failed(get());
    expect(error).toBeInstanceOf(RedisTimeout);
    expect(error).toMatchObject({ wasSent: false, cause: { message: 'MOVED 8 10.0.0.1:6379' } });
    expect(one.sent).toHaveLength(12);
  });

  it('is not sent again when its time is over', async () => {
    one.answers.push(() => {
      vi.advanceTimersByTime(QUERY_TIMEOUT_MS - 40);
      return refusing('MOVED 7 10.0.0.2:6379')();
    });
    expect(await failed(get())).toBeInstanceOf(RedisTimeout);
    expect(other.sent).toEqual([]);
  });

  it('is sent again when no request waits for it, however late the redirection comes', async () => {
    one.answers.push(() => {
      vi.advanceTimersByTime(2 * QUERY_TIMEOUT_MS);
      return refusing('MOVED 7 10.0.0.2:6379')();
    });
    expect(await connection.runWithoutTimeout('key', (client) => client.get('key'))).toBe('of other');
  });

  it('fails with other errors of its server', async () => {
    one.answers.push(refusing('WRONGTYPE'));
    expect(await failed(get())).toMatchObject({ message: 'WRONGTYPE' });
  });

  it('waits for the first connection to its server', async () => {
    const latch = new Latch();
    one.state = 'opening';
    one.opened.mockReturnValue(latch.opened);
    const answer = get();
    expect(await isOver(answer)).toBe(false);
    expect(one.sent).toEqual([]);
    latch.open();
    expect(await answer).toBe('of one');
  });

  it('is unavailable, and was not sent, if there is no connection in time', async () => {
    one.state = 'opening';
    one.opened.mockReturnValue(new Promise(() => undefined));
    const outcome = failed(get());
    await turn(QUERY_TIMEOUT_MS);
    expect(await outcome).toMatchObject({ name: 'RedisUnavailable', wasSent: false });
    expect(one.sent).toEqual([]);
  });

  it('for each server runs on all, whatever some of them answer', async () => {
    const latch = new Latch();
    one.answers.push(refusing('OOM'));
    other.answers.push(() => latch.opened);
    const all = connection.runOnEach((client) => client.get('each'));
    expect(await isOver(all)).toBe(false);
    latch.open();
    await all;
    expect([one.sent, other.sent]).toEqual([['each'], ['each']]);
  });
});

describe('the check', () => {
  it('queries all masters, and waits for all', async () => {
    const latch = new Latch();
    other.check.mockReturnValue(latch.opened);
    const check = connection.check();
    expect(await isOver(check)).toBe(false);
    latch.open();
    await check;
    expect([one.check.mock.calls.length, other.check.mock.calls.length]).toEqual([1, 1]);
  });

  it('fails without a query where a slot has no server', async () => {
    links.isWhole = false;
    await expect(connection.check()).rejects.toMatchObject({ name: 'RedisUnavailable', message: 'one: gone' });
    expect(one.check).not.toHaveBeenCalled();
  });

  it('fails with a master, but not with one that no longer serves the slot', async () => {
    other.check.mockRejectedValueOnce(new Error('OOM'));
    await expect(connection.check()).rejects.toThrow('OOM');
    const latch = new Latch();
    links.refresh.mockReturnValue(latch.opened);
    other.check.mockRejectedValueOnce(new Error('MOVED 7 10.0.0.2:6379'));
    const check = connection.check();
    expect(await isOver(check)).toBe(false);
    latch.open();
    await check;
  });
});

describe('the start', () => {
  it('waits until all masters are connected', async () => {
    const latch = new Latch();
    other.opened.mockReturnValue(latch.opened);
    const start = connection.onModuleInit();
    expect(await isOver(start)).toBe(false);
    latch.open();
    await start;
    expect(links.refresh).toHaveBeenCalledTimes(1);
  });

  it('waits two seconds at most', async () => {
    vi.useRealTimers();
    links.refresh.mockReturnValue(new Promise(() => undefined));
    const startedAt = performance.now();
    await connection.onModuleInit();
    expect(performance.now() - startedAt).toBeGreaterThan(CONNECT_MS - 50);
    await connection.onApplicationShutdown();
    vi.useFakeTimers();
  });

  it('reads the map every half second while servers are missing, and does not keep the process alive', async () => {
    await connection.onModuleInit();
    expect((Reflect.get(connection, 'reviewing') as NodeJS.Timeout).hasRef()).toBe(false);
    await turn(3 * REVIEW_INTERVAL_MS);
    expect(links.refresh).toHaveBeenCalledTimes(1);
    links.isWhole = false;
    await turn(REVIEW_INTERVAL_MS);
    expect(links.refresh).toHaveBeenCalledTimes(2);
    await turn(REVIEW_INTERVAL_MS);
    expect(links.refresh).toHaveBeenCalledTimes(3);
  });
});

describe('an outage', () => {
  it('notifies at once, and reads the map, as another server may be the master now', async () => {
    await connection.onModuleInit();
    links.isWhole = false;
    events.onDown('one: gone');
    expect([notified, links.refresh.mock.calls.length, warnings()]).toEqual([['unavailable'], 2, 1]);
    expect(connection.isUnavailable).toBe(true);
  });

  it('ends when all masters work, with one line in the log', async () => {
    await connection.onModuleInit();
    links.isWhole = false;
    events.onDown('one: gone');
    links.isWhole = true;
    other.check.mockRejectedValue(new Error('READONLY'));
    events.onUp();
    await turn();
    expect([notified, ends()]).toEqual([['unavailable', 'back'], 0]);
    other.check.mockResolvedValue();
    await turn(REVIEW_INTERVAL_MS);
    expect(ends()).toBe(1);
    await turn(2 * REVIEW_INTERVAL_MS);
    expect([ends(), warnings()]).toEqual([1, 1]);
  });

  it('is logged as soon as a server or the map shows that it begins or ends', async () => {
    links.isWhole = false;
    await connection.onModuleInit();
    expect([warnings(), ends()]).toEqual([1, 0]);
    links.isWhole = true;
    events.onUp();
    await turn();
    expect([warnings(), ends()]).toEqual([1, 1]);

    links.isWhole = false;
    links.refresh.mockImplementation(() => {
      links.isWhole = true;
      return Promise.resolve();
    });
    events.onDown('one: gone');
    await turn();
    expect([warnings(), ends()]).toEqual([2, 2]);
  });

  it('is not over when it has begun again meanwhile', async () => {
    await connection.onModuleInit();
    links.isWhole = false;
    events.onDown('one: gone');
    links.isWhole = true;
    const latch = new Latch();
    other.check.mockReturnValue(latch.opened);
    events.onUp();
    links.isWhole = false;
    latch.open();
    await turn();
    expect(ends()).toBe(0);
  });

  it('is not in the log before the start is over', () => {
    links.isWhole = false;
    events.onDown('one: gone');
    expect([notified, warnings()]).toEqual([['unavailable'], 0]);
  });

  it('concerns the keys of its server only', () => {
    links.of.mockImplementation((key) => (key === 'one' ? one : key === 'other' ? other : undefined));
    one.state = 'down';
    other.availableSince = performance.now() - 700;
    expect(['one', 'other', 'none'].map((key) => connection.isUnavailableFor(key))).toEqual([true, false, true]);
    expect(['one', 'other', 'none'].map((key) => connection.availableForMs(key))).toEqual([0, 700, 0]);
  });
});

it('at the end, all connections are closed, and waited for', async () => {
  await connection.onModuleInit();
  links.isWhole = false;
  events.onDown('one: gone');
  const latch = new Latch();
  other.close.mockReturnValue(latch.opened);
  const end = connection.onApplicationShutdown();
  expect(await isOver(end)).toBe(false);
  latch.open();
  await end;
  expect([one.close.mock.calls.length, other.close.mock.calls.length, vi.getTimerCount()]).toEqual([1, 1, 0]);
});
