import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ReplicaPresence } from '../../../../../../src/chat/durable/store/redis/replica-presence.js';
import { Latch, isOver } from '../../../../../support/latch.js';
import { stopTime, turn } from '../../../../../support/moved-time.js';
import { AWAY, FakeStreamRedis } from './fake-stream-redis.js';

const BEAT_MS = 500;

let redis: FakeStreamRedis;
let onLost: ReturnType<typeof vi.fn<() => void>>;
let onBeat: ReturnType<typeof vi.fn<() => void>>;
let presence: ReplicaPresence;

beforeEach(() => {
  stopTime();
  redis = new FakeStreamRedis();
  redis.answer = () => '1';
  [onLost, onBeat] = [vi.fn<() => void>(), vi.fn<() => void>()];
  presence = new ReplicaPresence(redis, onLost, onBeat);
});
afterEach(() => {
  presence.hide();
  vi.useRealTimers();
});

const beats = (): number => redis.of('set').length;
const tries = (): number => redis.slots.length;

describe('a presence', () => {
  it('is shown by a key of its own that lives for three seconds', async () => {
    await presence.show();
    const key = `chat:stream-replica:${presence.id}`;
    expect(redis.sent).toMatchObject([
      { name: 'set', keys: [key], args: ['1', { GET: true, expiration: { type: 'PX', value: 3_000 } }] },
    ]);
    expect(redis.slots).toEqual([key]);
    expect(presence.id).toMatch(/^[\da-f-]{36}$/);
    expect(new ReplicaPresence(redis, onLost, onBeat).id).not.toBe(presence.id);
  });

  it('is visible to others before a stream goes on', async () => {
    const latch = new Latch();
    redis.answer = () => latch.opened;
    const shown = presence.show();
    expect(await isOver(shown)).toBe(false);
    latch.open();
    expect(await isOver(shown)).toBe(true);
  });

  it('is not written before the first request for it', async () => {
    redis.comeBack();
    await turn(2 * BEAT_MS);
    expect([tries(), vi.getTimerCount()]).toEqual([0, 0]);
  });

  it('is shown anew every half second, by one timer', async () => {
    await presence.show();
    await presence.show();
    expect([beats(), vi.getTimerCount()]).toEqual([1, 1]);
    await turn(BEAT_MS - 1);
    expect(beats()).toBe(1);
    await turn(1);
    expect(beats()).toBe(2);
    await turn(BEAT_MS);
    expect([beats(), onBeat.mock.calls.length, vi.getTimerCount()]).toEqual([3, 2, 1]);
  });

  it('does not keep the process alive', async () => {
    await presence.show();
    expect((Reflect.get(presence, 'timer') as NodeJS.Timeout).hasRef()).toBe(false);
  });

  it('counts as written for half of the life of its key, since the time at which the command was sent to Redis', async () => {
    const latch = new Latch();
    redis.answer = () => latch.opened;
    const shown = presence.show();
    await turn(400);
    latch.open();
    await shown;
    redis.failure = AWAY;
    await turn(1_100);
    await expect(presence.show()).resolves.toBeUndefined();
    expect(tries()).toBe(4);
    await turn(1);
    await expect(presence.show()).rejects.toBe(AWAY);
    expect(tries()).toBe(5);
  });

  it('counts as shown since the last beat', async () => {
    await presence.show();
    await turn(4 * BEAT_MS);
    expect(beats()).toBe(5);
    await presence.show();
    expect(beats()).toBe(5);
  });

  it('that Redis did not take is tried again by the next stream and by the timer, and is not lost', async () => {
    redis.failure = AWAY;
    await expect(presence.show()).rejects.toBe(AWAY);
    await expect(presence.show()).rejects.toBe(AWAY);
    redis.failure = undefined;
    redis.answer = () => null;
    await turn(BEAT_MS);
    expect([tries(), beats(), vi.getTimerCount()]).toEqual([3, 1, 1]);
    expect(onLost).not.toHaveBeenCalled();
  });

  it('is shown again when Redis is back', async () => {
    await presence.show();
    redis.goAway(AWAY);
    await turn(100);
    expect(tries()).toBe(1);
    redis.comeBack();
    await turn();
    expect(beats()).toBe(2);
  });

  it('survives beats that fail, also the one when Redis is back', async () => {
    await presence.show();
    redis.answer = () => {
      throw AWAY;
    };
    redis.comeBack();
    await turn(2 * BEAT_MS);
    redis.answer = () => '1';
    await turn(BEAT_MS);
    expect([beats(), onLost.mock.calls.length]).toEqual([5, 0]);
  });
});

describe('a presence that is hidden', () => {
  it('is not shown by time, nor when Redis is back', async () => {
    await presence.show();
    presence.hide();
    expect(vi.getTimerCount()).toBe(0);
    redis.comeBack();
    await turn(2 * BEAT_MS);
    expect(beats()).toBe(1);
  });

  it('is shown at once by the next stream, and from then on', async () => {
    await presence.show();
    presence.hide();
    await presence.show();
    expect([beats(), vi.getTimerCount()]).toEqual([2, 1]);
    await turn(BEAT_MS);
    expect(beats()).toBe(3);
  });

  it('has lost nothing when its key has expired', async () => {
    await presence.show();
    presence.hide();
    await turn(5_000);
    redis.answer = () => null;
    await presence.show();
    expect(onLost).not.toHaveBeenCalled();
  });

  it('may be hidden before it is shown, and twice', () => {
    presence.hide();
    presence.hide();
    expect([tries(), vi.getTimerCount()]).toEqual([0, 0]);
  });
});

describe('a presence that Redis has lost', () => {
  it('is noticed by each beat that does not find it, but not by the first', async () => {
    redis.answer = () => null;
    await presence.show();
    expect(onLost).not.toHaveBeenCalled();
    await turn(BEAT_MS);
    expect(onLost).toHaveBeenCalledTimes(1);
    redis.answer = () => '1';
    await turn(BEAT_MS);
    expect(onLost).toHaveBeenCalledTimes(1);
    redis.answer = () => null;
    redis.comeBack();
    await turn();
    expect(onLost).toHaveBeenCalledTimes(2);
  });

  it('is noticed only when it is shown again', async () => {
    await presence.show();
    redis.failure = AWAY;
    await turn(5_000);
    redis.failure = undefined;
    redis.answer = () => null;
    onLost.mockImplementation(() => void presence.show());
    redis.comeBack();
    await turn();
    expect([beats(), onLost.mock.calls.length]).toEqual([2, 1]);
  });

  it('that was hidden during a beat has lost nothing when it is shown again', async () => {
    const latch = new Latch();
    redis.answer = () => latch.opened.then(() => null);
    const shown = presence.show();
    presence.hide();
    latch.open();
    await shown;
    await presence.show();
    expect([beats(), onLost.mock.calls]).toEqual([2, []]);
  });
});
