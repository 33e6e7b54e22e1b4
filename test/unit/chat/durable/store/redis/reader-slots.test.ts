import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ReaderSlots } from '../../../../../../src/chat/durable/store/redis/reader-slots.js';
import { streamKeys } from '../../../../../../src/chat/durable/store/redis/stream-keys.js';
import { ENTER, RENEW_READERS } from '../../../../../../src/chat/durable/store/redis/stream-scripts.js';
import { MAX_READERS } from '../../../../../../src/chat/durable/store/stream-store.js';
import { RedisUnavailable, RedisTimeout } from '../../../../../../src/redis/redis-errors.js';
import { FakeRedis } from '../../../../throttling/fake-redis.js';
import { stopTime, turn } from '../../../../../support/moved-time.js';

const EVERY_MS = 3_000;
const KEYS = streamKeys('a', 'g1');
const READERS = KEYS.readers;
const OTHERS = streamKeys('b', 'g2').readers;

let redis: FakeRedis;
let slots: ReaderSlots;

beforeEach(() => {
  stopTime();
  redis = new FakeRedis();
  redis.answer = () => 1;
  slots = new ReaderSlots(redis);
});
afterEach(() => {
  vi.useRealTimers();
});

const idOf = (index: number): string => redis.argsOf(ENTER)[index]?.[1] ?? '';
const takenKeys = (): string[] => [...(Reflect.get(slots, 'taken') as Map<string, unknown>).keys()];
/** The renewals of the next round. */
async function renewed(): Promise<unknown[]> {
  const before = redis.of(RENEW_READERS).length;
  await turn(EVERY_MS);
  return redis
    .of(RENEW_READERS)
    .slice(before)
    .map(({ keys, args }) => [...keys, ...args]);
}

describe('a reader', () => {
  it('acquires a slot of the stream with an id of its own, and is renewed every three seconds', async () => {
    await slots.enter(KEYS, 'g1');
    await slots.enter(KEYS, 'g1');
    expect(redis.sent).toMatchObject([
      { keys: [KEYS.meta, READERS], args: ['g1', idOf(0), String(MAX_READERS)] },
      { keys: [KEYS.meta, READERS], args: ['g1', idOf(1), String(MAX_READERS)] },
    ]);
    expect(redis.of(ENTER)).toHaveLength(2);
    expect(redis.slots).toEqual([KEYS.meta, KEYS.meta]);
    expect(idOf(0)).toMatch(/^[\da-f-]{36}$/);
    expect(idOf(1)).not.toBe(idOf(0));
    await turn(EVERY_MS - 1);
    expect(redis.of(RENEW_READERS)).toEqual([]);
    await turn(1);
    expect(redis.of(RENEW_READERS)).toMatchObject([{ keys: [READERS], args: [idOf(0), idOf(1)] }]);
    expect(redis.slots.slice(2)).toEqual([READERS]);
    expect(await renewed()).toEqual([[READERS, idOf(0), idOf(1)]]);
  });

  it.each([
    ['there are too many', 0, 'concurrency_limit_exceeded', 'A stream can have '],
    ['Redis has no such stream', -1, 'not_found', 'There is no such stream, or it is not kept any longer.'],
  ])('gets no slot where %s', async (_, answer, code, message) => {
    redis.answer = () => answer;
    const error: unknown = await slots.enter(KEYS, 'g1').catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code, message: expect.stringContaining(message) as string });
    expect([takenKeys(), vi.getTimerCount()]).toEqual([[], 0]);
  });

  it('gets an error with a time to retry where Redis is unavailable', async () => {
    redis.goAway(new RedisUnavailable('away', false));
    await expect(slots.enter(KEYS, 'g1')).rejects.toMatchObject({ code: 'unavailable', retryAfterSeconds: 1 });
    const slow = new RedisTimeout(false);
    redis.goAway(slow);
    await expect(slots.enter(KEYS, 'g1')).rejects.toBe(slow);
    expect([takenKeys(), vi.getTimerCount()]).toEqual([[], 0]);
  });

  it('releases its slot once', async () => {
    const leave = await slots.enter(KEYS, 'g1');
    leave();
    leave();
    await turn();
    expect(redis.of('ZREM')).toEqual([{ name: 'ZREM', keys: [READERS], args: [idOf(0)] }]);
    expect(redis.slots.at(-1)).toBe(READERS);
  });

  it('has left although Redis does not reply, or is unavailable', async () => {
    const [first, second] = [slots.hold(READERS, 'a1'), slots.hold(READERS, 'a2')];
    redis.answer = () => new Promise(() => undefined);
    first();
    await turn();
    redis.goAway(new RedisUnavailable('away', false));
    second();
    await turn();
    expect([takenKeys(), vi.getTimerCount(), redis.argsOf('ZREM')]).toEqual([[], 0, [['a1']]]);
  });
});

describe('the slots of the readers here', () => {
  it('are renewed by one command for each stream, until they are released', async () => {
    const [first, second, third] = ['a1', 'a2', 'b1'].map((id) => slots.hold(id === 'b1' ? OTHERS : READERS, id));
    expect(await renewed()).toEqual([
      [READERS, 'a1', 'a2'],
      [OTHERS, 'b1'],
    ]);
    first?.();
    expect(await renewed()).toEqual([
      [READERS, 'a2'],
      [OTHERS, 'b1'],
    ]);
    second?.();
    expect(takenKeys()).toEqual([OTHERS]);
    expect(await renewed()).toEqual([[OTHERS, 'b1']]);
    third?.();
    expect([takenKeys(), vi.getTimerCount()]).toEqual([[], 0]);
    slots.hold(READERS, 'a3');
    expect(await renewed()).toEqual([[READERS, 'a3']]);
  });

  it('are renewed in the next round, too, when Redis is unavailable or silent in one', async () => {
    slots.hold(READERS, 'a1');
    slots.hold(OTHERS, 'b1');
    redis.answer = ({ keys }) => (keys[0] === READERS ? Promise.reject(new RedisUnavailable('lost', true)) : 1);
    expect(await renewed()).toHaveLength(2);
    redis.answer = () => new Promise(() => undefined);
    expect(await renewed()).toHaveLength(2);
    redis.goAway(new RedisUnavailable('away', false));
    expect(await renewed()).toEqual([]);
    redis.comeBack();
    expect(await renewed()).toEqual([
      [READERS, 'a1'],
      [OTHERS, 'b1'],
    ]);
  });

  it('are renewed by one timer, which does not keep the process alive', () => {
    vi.useRealTimers();
    slots.hold(READERS, 'a1');
    const timer = Reflect.get(slots, 'timer') as NodeJS.Timeout;
    expect(timer.hasRef()).toBe(false);
    slots.hold(READERS, 'a2');
    slots.hold(OTHERS, 'b1');
    expect(Reflect.get(slots, 'timer')).toBe(timer);
    clearInterval(timer);
  });

  it('are not renewed after the end of the process', async () => {
    slots.hold(READERS, 'a1');
    slots.stop();
    expect(vi.getTimerCount()).toBe(0);
    expect(await renewed()).toEqual([]);
  });
});

describe('the number of readers', () => {
  it('is that of this process, without a question, while it has readers of the stream', async () => {
    const leaves = ['a1', 'a2'].map((id) => slots.hold(READERS, id));
    expect(await slots.count(READERS)).toBe(2);
    leaves[0]?.();
    expect(await slots.count(READERS)).toBe(1);
    expect(redis.of(RENEW_READERS)).toEqual([]);
  });

  it('is that of all replicas otherwise, and renews no reader', async () => {
    slots.hold(OTHERS, 'b1');
    redis.answer = () => '3';
    expect(await slots.count(READERS)).toBe(3);
    expect(redis.of(RENEW_READERS)).toMatchObject([{ keys: [READERS], args: [] }]);
    expect(redis.slots).toEqual([READERS]);
    redis.answer = () => 0;
    expect(await slots.count(READERS)).toBe(0);
  });

  it('is one where Redis does not answer, so that the stream goes on', async () => {
    redis.answer = () => new Promise(() => undefined);
    const silent = slots.count(READERS);
    await turn(1_000);
    expect(await silent).toBe(1);
    redis.goAway(new RedisUnavailable('away', false));
    expect(await slots.count(READERS)).toBe(1);
  });
});
