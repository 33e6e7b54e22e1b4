import { RESP_TYPES } from '@redis/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { StreamFollower } from '../../../../../../src/chat/durable/store/redis/stream-follower.js';
import type { RedisClient } from '../../../../../../src/redis/redis-client.js';
import type { Commands } from '../../../../../../src/redis/redis-connection.js';
import { RedisUnavailable } from '../../../../../../src/redis/redis-errors.js';
import { FakeRedis } from '../../../../throttling/fake-redis.js';
import { restoreDelays, moveDelays, type Pause } from '../../../../../support/moved-delays.js';
import { turn } from '../../../../../support/moved-time.js';

const KEY = 'chat:stream:{a}:1';
const OTHER_KEY = 'chat:stream:{b}:1';
const [TEXT_MS, QUIET_MS, RETRY_MS] = [50, 200, 250];
const MAX_ENTRIES = 64;
/** A follower that does not pause ends here. */
const MAX_READS = 200;

type Entry = [id: Buffer, fields: Buffer[]];
type Reply = [key: Buffer, entries: Entry[]][] | null;

/** A stream of Redis that the test writes. */
class Streams extends FakeRedis {
  readonly reads: string[][] = [];
  readonly options: unknown[] = [];
  read: (key: string, lastId: string) => Promise<Reply> = () => Promise.resolve(null);

  protected override async send<T>(key: string, commands: Commands<T>): Promise<T> {
    this.slots.push(key);
    const sendCommand = (command: string[], options: unknown): Promise<Reply> => {
      this.reads.push(command);
      this.options.push(options);
      if (this.reads.length > MAX_READS) return new Promise(() => undefined);
      return this.read(command[4] as string, command[5] as string);
    };
    return commands({ sendCommand } as unknown as RedisClient);
  }
}

let redis: Streams;
let follower: StreamFollower;
let pauses: Pause[];
let delivered: string[];

beforeEach(() => {
  pauses = moveDelays();
  redis = new Streams();
  follower = new StreamFollower(redis);
  delivered = [];
});
afterEach(() => {
  restoreDelays();
});

const deliver = (fields: ReadonlyMap<string, Buffer>): void => {
  delivered.push([...fields].map(([name, value]) => `${name}=${value.toString()}`).join(' '));
};
const entry = (id: string, ...fields: string[]): Entry => [Buffer.from(id), fields.map((field) => Buffer.from(field))];
const replyOf = (...entries: Entry[]): Reply => [[Buffer.from(KEY), entries]];
const numbered = (count: number): Reply =>
  replyOf(...Array.from({ length: count }, (_, index) => entry(`${index + 1}-0`, 'o', String(index))));
/** Answers the reads in turn, then with nothing new. */
const answer = (...replies: (Reply | Error)[]): void => {
  redis.read = () => {
    const reply = replies.shift() ?? null;
    return reply instanceof Error ? Promise.reject(reply) : Promise.resolve(reply);
  };
};
const lastIds = (): (string | undefined)[] => redis.reads.map((command) => command[5]);

describe('the follower of a stream', () => {
  it('reads it from its beginning, as bytes, on the server of its key', async () => {
    follower.follow(KEY, deliver);
    await turn();
    expect(redis.reads).toEqual([['XREAD', 'COUNT', '64', 'STREAMS', KEY, '0-0']]);
    expect(redis.options).toEqual([{ typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } }]);
    expect(redis.slots).toEqual([KEY]);
  });

  it('delivers each entry once, in order, and reads on after the last', async () => {
    answer(replyOf(entry('1-0', 'o', '0', 't', 'Hel'), entry('1-1', 'o', '3', 't', 'lo')), null, replyOf(entry('2-0')));
    follower.follow(KEY, deliver);
    await turn();
    expect(delivered).toEqual(['o=0 t=Hel', 'o=3 t=lo']);
    await turn(3 * TEXT_MS);
    expect(delivered).toEqual(['o=0 t=Hel', 'o=3 t=lo', '']);
    expect(lastIds()).toEqual(['0-0', '1-1', '1-1', '2-0']);
  });

  it('leaves out a name without a value', async () => {
    answer(replyOf(entry('1-0', 'o', '0', 't')));
    follower.follow(KEY, deliver);
    await turn();
    expect(delivered).toEqual(['o=0']);
  });

  it.each([
    ['nothing', null],
    ['no stream', []],
    ['no entries', replyOf()],
    ['fewer entries than it may', numbered(MAX_ENTRIES - 1)],
  ])('reads again after 50 ms where Redis returns %s', async (_, reply) => {
    answer(reply);
    follower.follow(KEY, deliver);
    await turn(TEXT_MS - 1);
    expect(redis.reads).toHaveLength(1);
    await turn(1);
    expect(redis.reads).toHaveLength(2);
  });

  it('reads on at once where there may be more', async () => {
    answer(numbered(MAX_ENTRIES), replyOf(entry('65-0')));
    follower.follow(KEY, deliver);
    await turn();
    expect([delivered.length, lastIds(), pauses]).toEqual([65, ['0-0', '64-0'], [[TEXT_MS, false]]]);
  });

  it('reads every 50 ms until a second has passed without text, and then every 200 ms', async () => {
    follower.follow(KEY, deliver);
    await turn(1_000);
    expect(pauses.map(([ms]) => ms)).toEqual([...Array<number>(20).fill(TEXT_MS), QUIET_MS]);
    await turn(QUIET_MS - 1);
    expect(redis.reads).toHaveLength(21);
    await turn(1);
    expect([redis.reads.length, pauses.at(-1)]).toEqual([22, [QUIET_MS, false]]);

    answer(replyOf(entry('1-0', 'o', '0')));
    await turn(QUIET_MS);
    expect([delivered, pauses.at(-1)]).toEqual([['o=0'], [TEXT_MS, false]]);
    await turn(999);
    expect(pauses.at(-1)).toEqual([TEXT_MS, false]);
    await turn(1);
    expect(pauses.at(-1)).toEqual([QUIET_MS, false]);
  });

  it('tries again after 250 ms where Redis is unavailable, from the same offset', async () => {
    answer(replyOf(entry('1-0')), new RedisUnavailable('lost', true));
    follower.follow(KEY, deliver);
    await turn(TEXT_MS);
    expect(pauses).toEqual([
      [TEXT_MS, false],
      [RETRY_MS, false],
    ]);
    await turn(RETRY_MS - 1);
    expect(redis.reads).toHaveLength(2);
    await turn(1);
    expect(lastIds()).toEqual(['0-0', '1-0', '1-0']);
  });

  it('waits a second at most for an answer', async () => {
    redis.read = () => new Promise(() => undefined);
    follower.follow(KEY, deliver);
    await turn(1_000 + RETRY_MS - 1);
    expect(redis.reads).toHaveLength(1);
    await turn(1);
    expect(redis.reads).toHaveLength(2);
  });

  it('reads each stream by itself, so that none waits for another', async () => {
    const heard = vi.fn();
    redis.read = (key, lastId) => {
      if (key === KEY) return new Promise(() => undefined);
      return Promise.resolve(lastId === '0-0' ? replyOf(entry('7-0')) : null);
    };
    follower.follow(KEY, deliver);
    follower.follow(OTHER_KEY, heard);
    await turn(2 * TEXT_MS);
    expect([redis.slots, delivered, heard.mock.calls.length]).toEqual([[KEY, OTHER_KEY, OTHER_KEY, OTHER_KEY], [], 1]);
    expect(redis.reads.slice(1).map((command) => command.slice(4))).toEqual([
      [OTHER_KEY, '0-0'],
      [OTHER_KEY, '7-0'],
      [OTHER_KEY, '7-0'],
    ]);
  });
});

describe('a stream that is followed no longer', () => {
  it('is not read again, while others are', async () => {
    const enough = follower.follow(KEY, deliver);
    follower.follow(OTHER_KEY, deliver);
    await turn();
    enough();
    await turn(TEXT_MS);
    expect([redis.slots, vi.getTimerCount()]).toEqual([[KEY, OTHER_KEY, OTHER_KEY], 1]);
  });

  it('delivers nothing of a pending read', async () => {
    let arrive!: (reply: Reply) => void;
    redis.read = () => new Promise((resolve) => (arrive = resolve));
    const enough = follower.follow(KEY, deliver);
    await turn();
    enough();
    arrive(replyOf(entry('1-0')));
    await turn();
    expect([delivered, vi.getTimerCount()]).toEqual([[], 0]);
  });

  it('delivers nothing after the entry with which its listener has enough', async () => {
    answer(replyOf(entry('1-0', 'o', '0'), entry('2-0', 'o', '1')));
    const enough = follower.follow(KEY, (fields) => {
      deliver(fields);
      enough();
    });
    await turn(10 * RETRY_MS);
    expect([delivered, redis.reads.length, vi.getTimerCount()]).toEqual([['o=0'], 1, 0]);
  });

  it('is each stream when the follower is closed, also one that comes later', async () => {
    follower.follow(KEY, deliver);
    follower.follow(OTHER_KEY, deliver);
    await turn();
    follower.close();
    follower.follow('chat:stream:{c}:1', deliver);
    await turn(10 * RETRY_MS);
    expect([redis.slots, vi.getTimerCount()]).toEqual([[KEY, OTHER_KEY], 0]);
  });
});
