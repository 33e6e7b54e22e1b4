import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CLAIM_RELEASED } from '../../../../../../src/chat/durable/log/stream-log.js';
import { writtenEntry } from '../../../../../../src/chat/durable/store/redis/stream-entry.js';
import { StreamCipher } from '../../../../../../src/chat/durable/store/redis/stream-cipher.js';
import { presenceKey } from '../../../../../../src/chat/durable/store/redis/stream-keys.js';
import { FENCE } from '../../../../../../src/chat/durable/store/redis/stream-scripts.js';
import { Latch } from '../../../../../support/latch.js';
import { stopTime, turn } from '../../../../../support/moved-time.js';
import { FollowedMirrors, GENERATION, CHECK_EVERY_MS, SECRET, remoteStream } from './followed-mirrors.js';

let held: FollowedMirrors;

beforeEach(() => {
  stopTime();
  held = new FollowedMirrors();
});
afterEach(() => {
  held.mirrors.stop();
  vi.useRealTimers();
});

describe('the readers of a remote stream', () => {
  it('share one log, which follows the stream until the last has left', () => {
    const stream = remoteStream('one');
    const [log, leave] = held.mirrors.hold(stream);
    const [same, leaveToo] = held.mirrors.hold(remoteStream('one'));
    expect(same).toBe(log);
    expect([...held.followed.keys()]).toEqual([stream.keys.text]);
    expect(held.follows).toBe(1);
    leave();
    expect([held.followed.size, held.memory.used > 0]).toEqual([1, true]);
    leaveToo();
    expect([held.followed.size, held.memory.used, held.ends]).toEqual([0, 0, 1]);
  });

  it('get a new log after the last one has left', () => {
    const [log, leave] = held.mirrors.hold(remoteStream('one'));
    leave();
    const [anew] = held.mirrors.hold(remoteStream('one'));
    expect(anew).not.toBe(log);
    expect([held.follows, held.followed.size]).toEqual([2, 1]);
  });

  it('get a new log after the last one had to give way to other accounts', () => {
    const [log, leave] = held.mirrors.hold(remoteStream('one'));
    held.say('one', 0, 'Hello');
    log.evict();
    expect(log.ending).toMatchObject({ kind: 'failed', code: 'unavailable' });
    const [anew] = held.mirrors.hold(remoteStream('one'));
    leave();
    expect(held.mirrors.hold(remoteStream('one'))[0]).toBe(anew);
    expect([anew === log, held.followed.size]).toEqual([false, 1]);
  });

  it('of two streams have a log each', () => {
    const [log] = held.mirrors.hold(remoteStream('one'));
    const [other, leave] = held.mirrors.hold(remoteStream('two'));
    expect(other).not.toBe(log);
    leave();
    expect([...held.followed.keys()]).toEqual([remoteStream('one').keys.text]);
    expect(held.mirrors.hold(remoteStream('one'))[0]).toBe(log);
  });

  it('read the text that the owner has sealed, and its ending', () => {
    const [log] = held.mirrors.hold(remoteStream('one'));
    const cipher = new StreamCipher(SECRET, GENERATION, 'text');
    held.write('one', writtenEntry(cipher, 0, 'Hel', undefined));
    expect([log.hasBegun, log.read(0, 10), log.ending]).toEqual([true, 'Hel', undefined]);
    held.write('one', writtenEntry(cipher, 3, 'lo', { kind: 'done' }));
    expect([log.read(0, 10), log.ending]).toEqual(['Hello', { kind: 'done' }]);
  });

  it('are refused when the memory is full, and nothing is followed', async () => {
    const full = new FollowedMirrors(0);
    expect(() => full.mirrors.hold(remoteStream('one'))).toThrow(expect.objectContaining({ code: 'unavailable' }));
    expect([full.follows, vi.getTimerCount()]).toEqual([0, 0]);
    await turn(CHECK_EVERY_MS);
    expect(full.redis.slots).toEqual([]);
  });
});

describe('the owners of followed streams', () => {
  it('are looked at every half second, each once', async () => {
    for (const name of ['one', 'two']) held.mirrors.hold(remoteStream(name));
    held.mirrors.hold(remoteStream('three', 'another'));
    for (const name of ['one', 'two', 'three']) held.begin(name);
    await turn(CHECK_EVERY_MS - 1);
    expect(held.redis.sent).toEqual([]);
    await turn(1);
    const looks = ['owner', 'another'].map((owner) => ({ name: 'exists', keys: [presenceKey(owner)], args: [] }));
    expect(held.redis.sent).toMatchObject(looks);
    expect(held.redis.slots).toEqual(['owner', 'another'].map(presenceKey));
    await turn(CHECK_EVERY_MS);
    expect(held.redis.sent).toMatchObject([...looks, ...looks]);
  });

  it('are looked at by one timer, which does not keep the process alive and ends with the last stream', async () => {
    expect(vi.getTimerCount()).toBe(0);
    const leaves = ['one', 'two'].map((name) => held.mirrors.hold(remoteStream(name))[1]);
    const timer = Reflect.get(held.mirrors, 'timer') as NodeJS.Timeout;
    expect([vi.getTimerCount(), timer.hasRef()]).toEqual([1, false]);
    leaves[0]?.();
    expect(vi.getTimerCount()).toBe(1);
    leaves[1]?.();
    expect(vi.getTimerCount()).toBe(0);
    held.mirrors.hold(remoteStream('one'));
    await turn(CHECK_EVERY_MS);
    expect(held.redis.of('exists')).toHaveLength(1);
  });

  it('are not looked at after the end of the process', async () => {
    held.mirrors.hold(remoteStream('one'));
    held.mirrors.stop();
    expect(vi.getTimerCount()).toBe(0);
    await turn(2 * CHECK_EVERY_MS);
    expect(held.redis.slots).toEqual([]);
  });

  it('are not looked at for streams that have ended', async () => {
    held.mirrors.hold(remoteStream('one'));
    held.mirrors.hold(remoteStream('two', 'another'));
    held.begin('two');
    held.write('one', ['x', '']);
    await turn(CHECK_EVERY_MS);
    expect(held.redis.sent.map(({ keys }) => keys)).toEqual([[presenceKey('another')]]);
  });

  it('are looked at all at once, but not twice at once', async () => {
    const latch = new Latch();
    held.mirrors.hold(remoteStream('one'));
    held.mirrors.hold(remoteStream('two', 'another'));
    for (const name of ['one', 'two']) held.begin(name);
    held.redis.answer = () => latch.opened.then(() => 1);
    await turn(2 * CHECK_EVERY_MS + 100);
    expect(held.redis.of('exists')).toHaveLength(2);
    latch.open();
    await turn(CHECK_EVERY_MS - 100);
    expect(held.redis.of('exists')).toHaveLength(4);
  });
});

describe('a stream that has not begun', () => {
  it('is looked for while its owner lives, and is lost after four seconds without it', async () => {
    const stream = remoteStream('one');
    const [log] = held.mirrors.hold(stream);
    held.meta = ['another generation', 'waiting'];
    await turn(CHECK_EVERY_MS);
    expect(held.redis.of('hmGet')).toMatchObject([{ keys: [stream.keys.meta], args: [['gen', 'state']] }]);
    expect(held.redis.slots.at(-1)).toBe(stream.keys.meta);
    await turn(3_999);
    expect(log.ending).toBeUndefined();
    await turn(1);
    expect(log.ending).toMatchObject({ kind: 'failed', code: 'interrupted' });
    await expect(log.begun).rejects.toBe(CLAIM_RELEASED);
    expect([held.redis.of('hmGet').length, held.redis.of(FENCE).length]).toEqual([9, 0]);
    await turn(2 * CHECK_EVERY_MS);
    expect(held.redis.of('hmGet')).toHaveLength(9);
  });

  it('is missing since Redis has said so, however late that was', async () => {
    const [log] = held.mirrors.hold(remoteStream('one'));
    const latch = new Latch();
    held.answerMeta = () => latch.opened.then(() => [null, null]);
    await turn(CHECK_EVERY_MS + 400);
    latch.open();
    await turn(4_000 - 400);
    expect(log.ending).toBeUndefined();
    await turn(CHECK_EVERY_MS);
    expect(log.ending).toMatchObject({ code: 'interrupted' });
  });

  it.each(['waiting', 'running'])('waits for its owner as long as it is %s', async (state) => {
    const [log] = held.mirrors.hold(remoteStream('one'));
    held.meta = [GENERATION, state];
    await turn(10_000);
    expect([log.ending, held.redis.of('hmGet').length]).toEqual([undefined, 20]);
  });

  it('is lost when Redis knows only that it has ended', async () => {
    const [log] = held.mirrors.hold(remoteStream('one'));
    held.meta = [GENERATION, 'ended'];
    await turn(4_000);
    expect(log.ending).toBeUndefined();
    await turn(CHECK_EVERY_MS);
    expect(log.ending).toMatchObject({ code: 'interrupted' });
  });

  it('has four seconds anew after Redis has known it again', async () => {
    const [log] = held.mirrors.hold(remoteStream('one'));
    held.meta = [null, null];
    await turn(3_500);
    held.meta = [GENERATION, 'waiting'];
    await turn(CHECK_EVERY_MS);
    held.meta = [null, null];
    await turn(4_000);
    expect(log.ending).toBeUndefined();
    await turn(CHECK_EVERY_MS);
    expect(log.ending).toMatchObject({ code: 'interrupted' });
  });

  it('has four seconds anew after an outage', async () => {
    const [log] = held.mirrors.hold(remoteStream('one'));
    held.meta = [null, null];
    await turn(4_400);
    held.flicker();
    await turn(4_000);
    expect(log.ending).toBeUndefined();
    await turn(200);
    expect(log.ending).toMatchObject({ code: 'interrupted' });
  });

  it('is looked for after another one, whatever became of that', async () => {
    const latch = new Latch();
    const [one, two] = ['one', 'two'].map((name) => remoteStream(name));
    for (const stream of [one, two]) if (stream !== undefined) held.mirrors.hold(stream);
    held.answerMeta = () => latch.opened.then(() => Promise.reject(new Error('It was slow.')));
    await turn(CHECK_EVERY_MS);
    expect(held.redis.of('hmGet').map(({ keys }) => keys)).toEqual([[one?.keys.meta]]);
    latch.open();
    await turn();
    expect(held.redis.of('hmGet').map(({ keys }) => keys)).toEqual([[one?.keys.meta], [two?.keys.meta]]);
    await turn(CHECK_EVERY_MS);
    expect(held.redis.of('hmGet')).toHaveLength(4);
  });
});
