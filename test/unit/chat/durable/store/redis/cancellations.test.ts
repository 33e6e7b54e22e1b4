import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Cancellations } from '../../../../../../src/chat/durable/store/redis/cancellations.js';
import type { RedisClient } from '../../../../../../src/redis/redis-client.js';
import type { Commands } from '../../../../../../src/redis/redis-connection.js';
import { RedisUnavailable } from '../../../../../../src/redis/redis-unavailable.js';
import { Latch, isOver } from '../../../../../support/latch.js';
import { FakeRedis } from '../../../../throttling/fake-redis.js';
import { restoreDelays, moveDelays, type Pause } from '../../../../../support/moved-delays.js';
import { turn } from '../../../../../support/moved-time.js';

const INBOX = 'chat:stream-inbox:me';
const RETRY_MS = 250;
/** A reader that does not wait ends here. */
const MAX_READS = 100;
const LOST = new RedisUnavailable('lost', true);

type Message = [id: string, fields: string[]];
type Reply = [key: string, messages: Message[]][] | null;

/** A connection that waits for messages until the test answers. */
class Inbox {
  isOpen = true;
  readonly reads: string[][] = [];
  answer: (reply: Reply) => void = () => undefined;
  fail: (error: Error) => void = () => undefined;

  sendCommand(command: string[]): Promise<Reply> {
    this.reads.push(command);
    if (this.reads.length > MAX_READS) throw new Error('There are too many reads.');
    return new Promise((resolve, reject) => {
      this.answer = resolve;
      this.fail = reject;
    });
  }

  destroy(): void {
    if (!this.isOpen) throw new Error('The connection is closed.');
    this.isOpen = false;
    this.fail(new Error('The connection is closed.'));
  }
}

class Inboxes extends FakeRedis {
  readonly inboxes: Inbox[] = [];
  readonly opened: unknown[] = [];
  readonly written: unknown[][] = [];
  stored: Promise<unknown> = Promise.resolve();
  open: () => Promise<void> = () => Promise.resolve();

  override async openAnother(options?: unknown): Promise<RedisClient> {
    this.opened.push(options);
    await this.open();
    const inbox = new Inbox();
    this.inboxes.push(inbox);
    return inbox as unknown as RedisClient;
  }

  protected override async send<T>(key: string, commands: Commands<T>): Promise<T> {
    this.slots.push(key);
    if (this.failure !== undefined) throw this.failure;
    const write =
      (name: string) =>
      (...args: unknown[]): Promise<unknown> => {
        this.written.push([name, ...args]);
        return this.stored;
      };
    return commands({ xAdd: write('XADD'), pExpire: write('PEXPIRE') } as unknown as RedisClient);
  }
}

let redis: Inboxes;
let cancellations: Cancellations;
let cancelled: string[];
let pauses: Pause[];

beforeEach(() => {
  pauses = moveDelays();
  redis = new Inboxes();
  cancelled = [];
  cancellations = new Cancellations(redis, 'me', (textKey) => cancelled.push(textKey));
});
afterEach(() => {
  cancellations.close();
  restoreDelays();
});

const messages = (...list: Message[]): Reply => [[INBOX, list]];
const lastIds = (): (string | undefined)[] => redis.inboxes.flatMap(({ reads }) => reads.map((read) => read.at(-1)));
const areOpen = (): boolean[] => redis.inboxes.map(({ isOpen }) => isOpen);
async function started(): Promise<Inbox> {
  cancellations.start();
  await turn();
  return redis.inboxes.at(-1) as Inbox;
}

describe('the requests to cancel streams of this replica', () => {
  it('are read on one connection of their own, to the server of the inbox', async () => {
    const inbox = await started();
    await started();
    expect(redis.opened).toEqual([{ key: INBOX }]);
    expect(inbox.reads).toEqual([['XREAD', 'COUNT', '64', 'BLOCK', '5000', 'STREAMS', INBOX, '0-0']]);
    expect([redis.slots, pauses, vi.getTimerCount()]).toEqual([[], [], 0]);
  });

  it('are delivered in order, once each, and messages of another kind are skipped', async () => {
    const inbox = await started();
    inbox.answer(messages(['1-0', ['c', 'text-1']], ['2-0', ['c', 'text-2']], ['3-0', ['later', 'text-3']]));
    await turn();
    expect([cancelled, lastIds()]).toEqual([
      ['text-1', 'text-2'],
      ['0-0', '3-0'],
    ]);
    inbox.answer(messages(['4-0', ['c', 'text-4']]));
    await turn();
    expect([cancelled.slice(2), lastIds().at(-1), redis.opened.length]).toEqual([['text-4'], '4-0', 1]);
  });

  it.each([
    ['nothing', null],
    ['no stream', []],
    ['no messages', messages()],
  ])('are waited for again on the same connection after a reply with %s', async (_, reply) => {
    const inbox = await started();
    inbox.answer(reply);
    await turn();
    expect([lastIds(), redis.opened.length, areOpen(), pauses]).toEqual([['0-0', '0-0'], 1, [true], []]);
  });

  it('are read on another connection 250 ms after one is lost, from the same offset', async () => {
    const first = await started();
    first.answer(messages(['1-0', ['c', 'text-1']]));
    await turn();
    first.fail(LOST);
    await turn();
    expect([areOpen(), pauses]).toEqual([[false], [[RETRY_MS, false]]]);
    await turn(RETRY_MS - 1);
    expect(redis.opened).toHaveLength(1);
    await turn(1);
    expect([redis.opened, areOpen(), lastIds(), cancelled]).toEqual([
      [{ key: INBOX }, { key: INBOX }],
      [false, true],
      ['0-0', '1-0', '1-0'],
      ['text-1'],
    ]);
  });

  it('are read on another connection where the first was closed by Redis', async () => {
    const first = await started();
    first.isOpen = false;
    first.fail(LOST);
    await turn(RETRY_MS);
    expect(areOpen()).toEqual([false, true]);
  });

  it('are read as soon as a connection can be opened', async () => {
    redis.open = () => Promise.reject(LOST);
    cancellations.start();
    await turn(2 * RETRY_MS);
    expect([redis.opened.length, pauses]).toEqual([3, Array(3).fill([RETRY_MS, false])]);
    redis.open = () => Promise.resolve();
    await turn(RETRY_MS);
    expect([areOpen(), lastIds()]).toEqual([[true], ['0-0']]);
  });
});

describe('at the end of the process', () => {
  it('the connection is closed at once, and no other is opened', async () => {
    const inbox = await started();
    cancellations.close();
    expect(inbox.isOpen).toBe(false);
    await turn();
    expect([pauses, vi.getTimerCount()]).toEqual([[], 0]);
    await started();
    expect([redis.opened.length, inbox.reads.length]).toEqual([1, 1]);
  });

  it('no connection is opened after a delay', async () => {
    const inbox = await started();
    inbox.fail(LOST);
    await turn();
    cancellations.close();
    await turn(2 * RETRY_MS);
    expect([redis.opened.length, vi.getTimerCount()]).toEqual([1, 0]);
  });

  it('a connection that comes too late is closed, and not read', async () => {
    const late = new Latch();
    redis.open = () => late.opened;
    cancellations.start();
    await turn();
    cancellations.close();
    late.open();
    await turn();
    expect([areOpen(), redis.opened.length, redis.inboxes[0]?.reads, pauses]).toEqual([[false], 1, [], []]);
  });

  it('a replica that never read does not begin', async () => {
    cancellations.close();
    cancellations.start();
    await turn();
    expect(redis.opened).toEqual([]);
  });
});

describe('a request to another replica', () => {
  const THEIRS = 'chat:stream-inbox:they';

  it('is written to its inbox, which is kept short and for a minute', async () => {
    await cancellations.send('they', 'text-1');
    const TRIM = { strategy: 'MAXLEN', strategyModifier: '~', threshold: 1_000 };
    expect([redis.slots, redis.written]).toEqual([
      [THEIRS],
      [
        ['XADD', THEIRS, '*', { c: 'text-1' }, { TRIM }],
        ['PEXPIRE', THEIRS, 60_000],
      ],
    ]);
  });

  it('is over when Redis has it', async () => {
    const stored = new Latch();
    redis.stored = stored.opened;
    const sent = cancellations.send('they', 'text-1');
    expect(await isOver(sent)).toBe(false);
    stored.open();
    expect(await isOver(sent)).toBe(true);
  });

  it('fails where Redis is unavailable', async () => {
    redis.goAway(LOST);
    await expect(cancellations.send('they', 'text-1')).rejects.toBe(LOST);
  });
});
