import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  derive,
  newSecret,
  parseStreamId,
  type RequestKey,
  type StreamAddress,
} from '../../../../../../src/chat/durable/identity/stream-identity.js';
import { CLAIM_RELEASED } from '../../../../../../src/chat/durable/log/stream-log.js';
import type { StreamMemory } from '../../../../../../src/chat/durable/log/stream-memory.js';
import { RedisStreamStore } from '../../../../../../src/chat/durable/store/redis/redis-stream-store.js';
import { inboxKey, metaKey, streamKeys } from '../../../../../../src/chat/durable/store/redis/stream-keys.js';
import {
  ABANDON,
  CLAIM,
  REFUSED,
  DROP,
  RENEW_READERS,
  WRITE,
} from '../../../../../../src/chat/durable/store/redis/stream-scripts.js';
import type { Claim, OwnStream } from '../../../../../../src/chat/durable/store/stream-store.js';
import { RedisTimeout } from '../../../../../../src/redis/redis-errors.js';
import { memoryOf } from '../../../../../contract/durable/describe-stream-store.js';
import { Latch, isOver } from '../../../../../support/latch.js';
import { stopTime, turn } from '../../../../../support/moved-time.js';
import { AWAY } from './fake-stream-redis.js';
import { ScriptedStreamRedis, unhandledIn } from './scripted-stream-redis.js';
import type { RedisScript } from '../../../../../../src/redis/redis-script.js';

const RETENTION_MS = 30_000;
const RESTORED_WITHIN_MS = 3_000;
const KEY: RequestKey = { accountId: 'ada', locator: '0a'.repeat(16), proof: Buffer.alloc(32, 1) };
const META = metaKey(KEY.locator);
const NOT_AVAILABLE = {
  code: 'unavailable',
  message: 'Durable streams are not available right now. Try again.',
  retryAfterSeconds: 1,
};

let redis: ScriptedStreamRedis;
let memory: StreamMemory;
let store: RedisStreamStore;

beforeEach(() => {
  stopTime();
  redis = new ScriptedStreamRedis();
  memory = memoryOf();
  store = new RedisStreamStore(redis, memory, RETENTION_MS);
});
afterEach(() => {
  vi.useRealTimers();
});

const namesSent = (): string[] => redis.sent.map(({ name }) => name);
const addressOf = ({ id }: { id: string }): StreamAddress => parseStreamId(id) ?? { locator: '', secret: Buffer.of() };
async function claimed(key = KEY, from = store): Promise<OwnStream & { leave: () => void }> {
  const claim = await from.claim(key, 300);
  if (claim.outcome !== 'new') throw new Error(`The outcome is ${claim.outcome}.`);
  return Object.assign(claim.stream, { leave: claim.leave });
}
/** What the last claim has told Redis. */
function sent(): { generation: string; owner: string; wrap: string; check: string; text: string } {
  const [generation = '', owner = '', wrap = '', check = ''] = redis.argsOf(CLAIM).at(-1) ?? [];
  return { generation, owner, wrap, check, text: streamKeys(KEY.locator, generation).text };
}
/** The claim of a second request, on this replica or on another one. */
async function claimedAgain(key: RequestKey, from = store): Promise<Claim> {
  const { generation, owner, wrap } = sent();
  redis.on(CLAIM, () => [generation, owner, wrap]);
  return from.claim(key, 300);
}

describe('a claim of a free key', () => {
  it('writes this replica, then all that others need, to Redis, and is generated here', async () => {
    const stream = await claimed();
    const { generation, owner, text } = sent();
    expect(namesSent().slice(0, 2)).toEqual(['set', redis.of(CLAIM)[0]?.name]);
    const [command] = redis.of(CLAIM);
    expect(command).toMatchObject({ keys: [META, `${text}:readers`], slot: META, hasNoTimeout: false });
    expect(command?.args.slice(4)).toEqual([String(RETENTION_MS + 60_000), expect.stringMatching(/^[\w-]{36}$/), '1']);
    expect([generation, owner]).toEqual([expect.stringMatching(/^[\w-]{36}$/), expect.stringMatching(/^[\w-]{36}$/)]);
    const { locator, secret } = addressOf(stream);
    expect(locator).toBe(KEY.locator);
    // Replicas of other versions have to agree.
    expect(sent().check).toBe(derive(secret, 'ada', 'chat durable stream: check').toString('base64'));
    expect([store.counts, store.isShared, memory.used]).toEqual([{ running: 1, retained: 0 }, true, 1_024 + 300]);
  });

  it('has a generation and a secret of its own', async () => {
    const first = await claimed();
    const { generation, check } = sent();
    expect((await claimed()).id).not.toBe(first.id);
    expect([sent().generation === generation, sent().check === check]).toEqual([false, false]);
  });

  it('waits until other replicas can see this one', async () => {
    const seen = new Latch();
    redis.on('set', () => seen.opened);
    const claim = store.claim(KEY, 0);
    expect([await isOver(claim), redis.of(CLAIM)]).toEqual([false, []]);
    seen.open();
    expect(await isOver(claim)).toBe(true);
  });

  it('counts its request as the first reader', async () => {
    const { leave } = await claimed();
    leave();
    expect(redis.of('zRem')).toMatchObject([{ keys: [`${sent().text}:readers`], args: [redis.argsOf(CLAIM)[0]?.[5]] }]);
  });

  it.each([
    [RESTORED_WITHIN_MS - 1, '0'],
    [RESTORED_WITHIN_MS, '1'],
  ])('%i ms after an outage may take it: %s', async (availableMs, mayTake) => {
    redis.availableMs = availableMs;
    await claimed();
    expect([redis.argsOf(CLAIM)[0]?.[6], redis.availabilityOf]).toEqual([mayTake, [META]]);
  });

  it('that is refused reserves nothing', async () => {
    redis.on(CLAIM, () => [REFUSED]);
    await expect(store.claim(KEY, 300)).rejects.toMatchObject(NOT_AVAILABLE);
    expect([memory.used, store.counts.running, redis.of(ABANDON)]).toEqual([0, 0, []]);
  });

  it('is refused without a word to Redis where the memory is full', async () => {
    await expect(store.claim(KEY, 65 * 1024 * 1024)).rejects.toMatchObject({ code: 'unavailable' });
    expect([memory.used, redis.sent]).toEqual([0, []]);
  });
});

describe('a claim of a key that is in use', () => {
  it('finds the stream of this replica', async () => {
    const stream = await claimed();
    const used = memory.used;
    const again = await claimedAgain(KEY);
    expect(again.outcome === 'found' && again.stream === stream).toBe(true);
    expect([memory.used, store.counts.running]).toEqual([used, 1]);
  });

  it('finds the stream of another replica under the same id, and sends its owner the request to cancel it', async () => {
    const stream = await claimed();
    const { owner, text } = sent();
    const again = await claimedAgain(KEY, new RedisStreamStore(redis, memory, RETENTION_MS));
    if (again.outcome !== 'found') throw new Error('The stream is not found.');
    expect([again.stream === stream, again.stream.id]).toEqual([false, stream.id]);
    void again.stream.cancel();
    await vi.advanceTimersByTimeAsync(0);
    expect(redis.of('xAdd')).toMatchObject([{ keys: [inboxKey(owner)], args: ['*', { c: text }, {}] }]);
  });

  it('is a conflict for another body', async () => {
    await claimed();
    const used = memory.used;
    expect(await claimedAgain({ ...KEY, proof: Buffer.alloc(32, 2) })).toEqual({ outcome: 'conflict' });
    expect(memory.used).toBe(used);
  });

  it.each([1, 2])('counts as free where Redis returns only %i of its three values', async (values) => {
    redis.on(CLAIM, () => ['generation', 'owner'].slice(0, values));
    await claimed();
    expect(store.counts.running).toBe(1);
  });
});

describe('a claim without an answer', () => {
  it.each([
    ['slow, with the command on its way', new RedisTimeout(true), 1],
    ['slow, with nothing sent', new RedisTimeout(false), 0],
    ['of no use', new Error('ERR'), 1],
  ])('is given up for Redis, too, if it may have arrived: Redis is %s', async (_, failure, given) => {
    redis.on(CLAIM, () => Promise.reject(failure));
    await expect(store.claim(KEY, 300)).rejects.toBe(failure);
    const { generation, text } = sent();
    const abandoned = { keys: [META, text], args: [generation, ''], slot: META, hasNoTimeout: true };
    expect(redis.of(ABANDON)).toMatchObject(given === 1 ? [abandoned] : []);
    expect([memory.used, store.counts.running]).toEqual([0, 0]);
  });

  it('is an outage for the client, and no other error', async () => {
    redis.on(CLAIM, () => Promise.reject(AWAY));
    redis.on(ABANDON, () => Promise.reject(AWAY));
    const claim = store.claim(KEY, 300);
    const unhandled = await unhandledIn(() => expect(claim).rejects.toMatchObject({ ...NOT_AVAILABLE, cause: AWAY }));
    expect([unhandled, redis.of(ABANDON).length]).toEqual([[], 1]);
  });

  it('is not tried where this replica cannot be seen', async () => {
    redis.on('set', () => Promise.reject(AWAY));
    await expect(store.claim(KEY, 300)).rejects.toMatchObject(NOT_AVAILABLE);
    expect([redis.of(CLAIM), redis.of(ABANDON), memory.used]).toEqual([[], [], 0]);
  });
});

describe('a slot', () => {
  it.each([
    [1, true],
    [0, false],
  ])('with %i streams is known: %s', async (count, isKnown) => {
    redis.on('exists', () => count);
    expect(await store.knows(KEY.locator)).toBe(isKnown);
    expect(redis.sent).toEqual([expect.objectContaining({ keys: [META], slot: META, hasNoTimeout: false })]);
  });

  it('is not known while Redis is unavailable', async () => {
    redis.failure = AWAY;
    await expect(store.knows(KEY.locator)).rejects.toMatchObject(NOT_AVAILABLE);
  });
});

describe('a stream that is looked for', () => {
  it('is that of this replica', async () => {
    const stream = await claimed();
    const { generation, owner, check } = sent();
    redis.on('hmGet', () => [generation, owner, check]);
    expect(await store.find(addressOf(stream), 'ada')).toBe(stream);
    expect(redis.of('hmGet')).toMatchObject([{ keys: [META], args: [['gen', 'owner', 'check']], slot: META }]);
  });

  it('may be that of another replica', async () => {
    const stream = await claimed();
    redis.on('hmGet', () => ['generation-2', 'replica-2', sent().check]);
    const found = await store.find(addressOf(stream), 'ada');
    expect([found === stream, found?.id]).toEqual([false, stream.id]);
  });

  it.each([0, 1, 2])('is not there without each of its values, such as number %i', async (missing) => {
    const address = addressOf(await claimed());
    const values: (string | null)[] = [sent().generation, sent().owner, sent().check];
    values[missing] = null;
    redis.on('hmGet', () => values);
    expect(await store.find(address, 'ada')).toBeUndefined();
  });

  it('is not there for another account, or with another secret', async () => {
    const address = addressOf(await claimed());
    redis.on('hmGet', () => [sent().generation, sent().owner, sent().check]);
    expect(await store.find(address, 'bob')).toBeUndefined();
    expect(await store.find({ ...address, secret: newSecret() }, 'ada')).toBeUndefined();
  });

  it('is not found while Redis is unavailable', async () => {
    redis.failure = AWAY;
    await expect(store.find({ locator: KEY.locator, secret: newSecret() }, 'ada')).rejects.toMatchObject(NOT_AVAILABLE);
  });
});

it('an own stream that has not begun releases its key', async () => {
  const stream = await claimed();
  stream.abandon(CLAIM_RELEASED);
  expect([store.counts.running, redis.argsOf(ABANDON)]).toEqual([0, [[sent().generation, '']]]);
});

const KEEP_ALIVE_EVERY_MS = 20_000;

const BEAT_MS = 500;

const FLUSH_LIMIT_MS = 2_000;

/** What `work` sends of these commands. */
async function sentIn(name: RedisScript | string, work: () => unknown): Promise<number> {
  const before = redis.of(name).length;
  await work();
  await turn();
  return redis.of(name).length - before;
}

/** A stream whose first reader has left, so that the renewal of its place is out of the way. */
async function alone(): Promise<OwnStream> {
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
      const { log } = await alone();
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
    const [first, second] = [await alone(), await alone()];
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
    (await alone()).abandon(CLAIM_RELEASED);
    expect(await sentIn('set', () => turn(KEEP_ALIVE_EVERY_MS))).toBe(0);
    await alone();
    expect(await sentIn('pExpire', () => turn(KEEP_ALIVE_EVERY_MS))).toBe(2);
  });

  it('do not keep the process alive', async () => {
    await alone();
    expect((Reflect.get(store, 'timer') as NodeJS.Timeout).hasRef()).toBe(false);
  });

  it('are kept alive at once when Redis is back, or has lost this replica', async () => {
    await alone();
    expect(
      await sentIn('pExpire', () => {
        redis.comeBack();
      }),
    ).toBe(2);
    redis.on('set', () => null);
    expect(await sentIn('pExpire', () => turn(BEAT_MS))).toBe(2);
  });

  it('may miss a round, each by itself', async () => {
    await alone();
    await alone();
    redis.on('pExpire', ({ keys }) => (keys[0] === textKeyOf(0) ? Promise.reject(AWAY) : 1));
    expect(await unhandledIn(() => turn(KEEP_ALIVE_EVERY_MS))).toEqual([]);
    expect(keptAlive()).toContain(textKeyOf(1));
  });

  it('show this replica also where the last one ended during a claim', async () => {
    const first = await alone();
    const answered = new Latch();
    redis.on(CLAIM, () => answered.opened.then(() => []));
    const second = alone();
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
    await alone().catch(() => undefined);
    expect(await sentIn('set', () => turn(2 * BEAT_MS))).toBe(0);
  });
});

describe('the inbox of this replica', () => {
  const cancellationOf = (textKey: string): unknown => [['inbox', [['1-0', ['c', textKey]]]]];
  const reads = () => redis.of('sendCommand');

  it('is read with each beat while this replica has streams', async () => {
    const stream = await alone();
    expect(reads()).toEqual([]);
    await turn(2 * BEAT_MS);
    const inbox = inboxKey(redis.argsOf(CLAIM)[0]?.[1] ?? '');
    expect(reads().map(({ slot }) => slot)).toEqual([inbox, inbox]);
    stream.abandon(CLAIM_RELEASED);
    expect(await sentIn('sendCommand', () => turn(2 * BEAT_MS))).toBe(0);
  });

  it('stops the stream that it names, and no other', async () => {
    const onStops = [vi.fn(), vi.fn()];
    for (const onStop of onStops) (await alone()).onStop = onStop;
    const stopped = (): number[] => onStops.map(({ mock }) => mock.calls.length);
    redis.on('sendCommand', () => cancellationOf('chat:stream:{unknown}'));
    await turn(BEAT_MS);
    expect(stopped()).toEqual([0, 0]);
    redis.on('sendCommand', () => cancellationOf(textKeyOf(1)));
    await turn(BEAT_MS);
    expect(stopped()).toEqual([0, 1]);
    expect(onStops[1]?.mock.calls).toMatchObject([[{ code: 'cancelled' }]]);
  });

  it.each([
    ['that a stream cannot be stopped', () => cancellationOf(textKeyOf(0))],
    ['that Redis is unavailable', () => Promise.reject(AWAY)],
  ])('does not mind %s', async (_, answer) => {
    redis.on('sendCommand', answer);
    (await alone()).onStop = () => {
      throw new Error('No.');
    };
    expect(await unhandledIn(() => turn(BEAT_MS))).toEqual([]);
  });
});

describe('a shutdown', () => {
  it('waits until Redis has the streams that have ended, not for those that run', async () => {
    await alone();
    const stream = await alone();
    const written = new Latch();
    redis.on(WRITE, () => written.opened.then(() => 'ok'));
    stream.log.begin();
    stream.log.end({ kind: 'done' });
    const down = store.beforeApplicationShutdown();
    expect(await isOver(down)).toBe(false);
    written.open();
    expect(await isOver(down)).toBe(true);
  });

  it('waits two seconds at most', async () => {
    const stream = await alone();
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
    const stream = await alone();
    const [generation = '', , , check = ''] = redis.argsOf(CLAIM)[0] ?? [];
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
