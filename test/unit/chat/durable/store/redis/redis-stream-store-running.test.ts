import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parseStreamId, type RequestKey } from '../../../../../../src/chat/durable/identity/stream-identity.js';
import { CLAIM_RELEASED } from '../../../../../../src/chat/durable/log/stream-log.js';
import { RedisStreamStore } from '../../../../../../src/chat/durable/store/redis/redis-stream-store.js';
import type { RedisScript } from '../../../../../../src/redis/redis-script.js';
import { inboxKey } from '../../../../../../src/chat/durable/store/redis/stream-keys.js';
import {
  CLAIM,
  DROP,
  REFUSED,
  RENEW_READERS,
  WRITE,
} from '../../../../../../src/chat/durable/store/redis/stream-scripts.js';
import type { OwnStream } from '../../../../../../src/chat/durable/store/stream-store.js';
import { memoryOf } from '../../../../../contract/durable/describe-stream-store.js';
import { Latch, isOver } from '../../../../../support/latch.js';
import { stopTime, turn } from '../../../../../support/moved-time.js';
import { AWAY } from './fake-stream-redis.js';
import { ScriptedStreamRedis, unhandledIn } from './scripted-stream-redis.js';

const KEY: RequestKey = { accountId: 'ada', locator: '0a'.repeat(16), proof: Buffer.alloc(32, 1) };
const KEEP_ALIVE_EVERY_MS = 20_000;
const BEAT_MS = 500;
const FLUSH_LIMIT_MS = 2_000;

let redis: ScriptedStreamRedis;
let store: RedisStreamStore;

beforeEach(() => {
  stopTime();
  redis = new ScriptedStreamRedis();
  store = new RedisStreamStore(redis, memoryOf(), 30_000);
});
afterEach(() => {
  vi.useRealTimers();
});

/** What `work` sends of these commands. */
async function sentIn(name: RedisScript | string, work: () => unknown): Promise<number> {
  const before = redis.of(name).length;
  await work();
  await turn();
  return redis.of(name).length - before;
}
/** A stream whose first reader has left, so that the renewal of its place is out of the way. */
async function claimed(): Promise<OwnStream> {
  const claim = await store.claim(KEY, 0);
  if (claim.outcome !== 'new') throw new Error(`The outcome is ${claim.outcome}.`);
  claim.leave();
  return claim.stream;
}
const textKeyOf = (claim: number): string => redis.of(CLAIM)[claim]?.keys[1]?.replace(/:readers$/, '') ?? '';
const keptAlive = (): string[] => redis.of('pExpire').flatMap(({ keys }) => keys);

describe('the streams of this replica', () => {
  it('are dropped from Redis when the ended ones of their account take more than STREAM_MEMORY_MB', async () => {
    store = new RedisStreamStore(redis, memoryOf(1), 30_000);
    const ended = async (kibibytes: number): Promise<void> => {
      const { log } = await claimed();
      log.begin();
      log.append('x'.repeat(kibibytes * 1024));
      log.end({ kind: 'done' });
      // One batch of text has at most 64 KiB.
      for (let batch = 0; batch <= kibibytes / 64; batch++) await turn();
    };
    await ended(600);
    expect(await sentIn(DROP, () => ended(300))).toBe(0);
    expect(await sentIn(DROP, () => ended(300))).toBe(1);
    expect(redis.of(DROP)[0]?.keys[1]).toBe(textKeyOf(0));
  });

  it('are kept alive every twenty seconds, all of them, until they are over', async () => {
    const [first, second] = [await claimed(), await claimed()];
    await turn(KEEP_ALIVE_EVERY_MS - 1);
    expect(keptAlive()).toEqual([]);
    await turn(1);
    expect(keptAlive()).toEqual(expect.arrayContaining([textKeyOf(0), textKeyOf(1)]));
    expect(keptAlive()).toHaveLength(4);
    first.abandon(CLAIM_RELEASED);
    expect(store.counts.running).toBe(1);
    expect(await sentIn('pExpire', () => turn(KEEP_ALIVE_EVERY_MS))).toBe(2);
    second.abandon(CLAIM_RELEASED);
    expect([store.counts.running, vi.getTimerCount()]).toEqual([0, 0]);
  });

  it('are kept alive again after a time without streams, in which nothing was sent', async () => {
    (await claimed()).abandon(CLAIM_RELEASED);
    expect(await sentIn('set', () => turn(KEEP_ALIVE_EVERY_MS))).toBe(0);
    await claimed();
    expect(await sentIn('pExpire', () => turn(KEEP_ALIVE_EVERY_MS))).toBe(2);
  });

  it('do not keep the process alive', async () => {
    await claimed();
    expect((Reflect.get(store, 'timer') as NodeJS.Timeout).hasRef()).toBe(false);
  });

  it('are kept alive at once when Redis is back, or has lost this replica', async () => {
    await claimed();
    expect(
      await sentIn('pExpire', () => {
        redis.comeBack();
      }),
    ).toBe(2);
    redis.on('set', () => null);
    expect(await sentIn('pExpire', () => turn(BEAT_MS))).toBe(2);
  });

  it('may miss a round, each by itself', async () => {
    await claimed();
    await claimed();
    redis.on('pExpire', ({ keys }) => (keys[0] === textKeyOf(0) ? Promise.reject(AWAY) : 1));
    expect(await unhandledIn(() => turn(KEEP_ALIVE_EVERY_MS))).toEqual([]);
    expect(keptAlive()).toContain(textKeyOf(1));
  });

  it('show this replica also where the last one ended during a claim', async () => {
    const first = await claimed();
    const answered = new Latch();
    redis.on(CLAIM, () => answered.opened.then(() => []));
    const second = claimed();
    await turn();
    first.abandon(CLAIM_RELEASED);
    answered.open();
    await second;
    expect(await sentIn('set', () => turn(BEAT_MS))).toBe(1);
  });

  it.each([
    ['is refused', () => [REFUSED]],
    ['is of another stream', () => ['generation', 'another replica', 'wrap']],
    ['fails', () => Promise.reject(AWAY)],
  ])('do not show this replica where a claim %s', async (_, answer) => {
    redis.on(CLAIM, answer);
    await claimed().catch(() => undefined);
    expect(await sentIn('set', () => turn(2 * BEAT_MS))).toBe(0);
  });
});

describe('the inbox of this replica', () => {
  const cancellationOf = (textKey: string): unknown => [['inbox', [['1-0', ['c', textKey]]]]];

  it('is read from the first claim on', async () => {
    expect(redis.inboxes).toEqual([]);
    await claimed();
    await claimed();
    expect(redis.inboxes).toEqual([inboxKey(redis.argsOf(CLAIM)[0]?.[1] ?? '')]);
  });

  it('stops the stream that it names, and no other', async () => {
    const messages = [new Latch(), new Latch()];
    const texts: string[] = [];
    let reads = 0;
    redis.inbox = async () => {
      const read = reads++;
      await (messages[read]?.opened ?? new Promise(() => undefined));
      return cancellationOf(texts[read] ?? '');
    };
    const onStops = [vi.fn(), vi.fn()];
    for (const onStop of onStops) (await claimed()).onStop = onStop;
    texts.push('chat:stream:{unknown}', textKeyOf(1));
    const stopped = (): number[] => onStops.map(({ mock }) => mock.calls.length);
    messages[0]?.open();
    await turn();
    expect(stopped()).toEqual([0, 0]);
    messages[1]?.open();
    await turn();
    expect(stopped()).toEqual([0, 1]);
    expect(onStops[1]?.mock.calls).toMatchObject([[{ code: 'cancelled' }]]);
    expect(redis.inboxes).toHaveLength(1);
  });

  it('does not mind that a stream cannot be stopped', async () => {
    const message = new Latch();
    redis.inbox = async () => {
      await message.opened;
      redis.inbox = () => new Promise(() => undefined);
      return cancellationOf(textKeyOf(0));
    };
    (await claimed()).onStop = () => {
      throw new Error('No.');
    };
    expect(
      await unhandledIn(() => {
        message.open();
      }),
    ).toEqual([]);
  });
});

describe('a shutdown', () => {
  it('waits until Redis has the streams that have ended, not for those that run', async () => {
    await claimed();
    const stream = await claimed();
    const written = new Latch();
    redis.on(WRITE, () => written.opened.then(() => 'ok'));
    stream.log.begin();
    stream.log.end({ kind: 'done' });
    const down = store.beforeApplicationShutdown();
    expect([await isOver(down), redis.isInboxClosed.mock.calls.length]).toEqual([false, 0]);
    written.open();
    expect([await isOver(down), redis.isInboxClosed.mock.calls.length]).toEqual([true, 1]);
  });

  it('waits two seconds at most', async () => {
    const stream = await claimed();
    redis.on(WRITE, () => new Promise(() => undefined));
    stream.log.begin();
    stream.log.end({ kind: 'done' });
    const down = store.beforeApplicationShutdown();
    await turn(FLUSH_LIMIT_MS - 1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(await isOver(down)).toBe(false);
    await turn(1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(await isOver(down)).toBe(true);
  });

  it('ends heartbeats, slots of readers, and the streams of other replicas', async () => {
    const stream = await claimed();
    const [generation = '', , , check = ''] = redis.argsOf(CLAIM)[0] ?? [];
    redis.on('sendCommand', () => null);
    redis.on('hmGet', () => [`${generation}-2`, 'replica-2', check]);
    const address = parseStreamId(stream.id);
    const remote = address && (await store.find(address, 'ada'));
    await remote?.enter();
    expect(vi.getTimerCount()).toBeGreaterThan(3);
    await store.beforeApplicationShutdown();
    expect(vi.getTimerCount()).toBe(0);
    const before = redis.sent.length;
    await turn(KEEP_ALIVE_EVERY_MS);
    expect([redis.sent.length - before, redis.of(RENEW_READERS)]).toEqual([0, []]);
    expect(Reflect.get(Reflect.get(store, 'follower') as object, 'isClosed')).toBe(true);
  });
});
