import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CLAIM_RELEASED } from '../../../../../../src/chat/durable/log/stream-log.js';
import { writtenEntry } from '../../../../../../src/chat/durable/store/redis/stream-entry.js';
import { StreamCipher } from '../../../../../../src/chat/durable/store/redis/stream-cipher.js';
import { presenceKey } from '../../../../../../src/chat/durable/store/redis/stream-keys.js';
import { FENCE } from '../../../../../../src/chat/durable/store/redis/stream-scripts.js';
import { Latch } from '../../../../../support/latch.js';
import { stopTime, turn } from '../../../../../support/moved-time.js';
import { FollowedMirrors, GENERATION, CHECK_EVERY_MS, SECRET, remoteStream, RETENTION_MS } from './followed-mirrors.js';
import { RedisUnavailable } from '../../../../../../src/redis/redis-errors.js';

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

const fenced = (): string[] => held.redis.of(FENCE).map(({ keys }) => keys[0] ?? '');

const metaOf = (name: string): string => remoteStream(name).keys.meta;

const known = (): number => (Reflect.get(held.mirrors, 'absentSince') as Map<string, number>).size;

/** Follows a stream that has begun. */
function hold(name: string, owner = 'owner'): () => void {
  const [, leave] = held.mirrors.hold(remoteStream(name, owner));
  held.begin(name);
  return leave;
}

/** Looks at the owner from now on at other times: half a second after `ms`. */
async function checkLater(leave: () => void, ms: number): Promise<void> {
  leave();
  await turn(ms);
  hold('one');
}

describe('the streams of a replica that is absent', () => {
  it('are ended at the third check, each with its keys, and not those of others', async () => {
    hold('one');
    held.mirrors.hold(remoteStream('two'));
    hold('three', 'another');
    held.dead.add('owner');
    await turn(3 * CHECK_EVERY_MS - 1);
    expect(fenced()).toEqual([]);
    await turn(1);
    expect(held.redis.of(FENCE)).toMatchObject(
      ['one', 'two'].map((name) => {
        const { meta, text } = remoteStream(name).keys;
        return { keys: [meta, text], args: [GENERATION, String(RETENTION_MS)] };
      }),
    );
    expect(held.redis.slots.slice(-2)).toEqual([metaOf('one'), metaOf('two')]);
    expect(held.redis.of('hmGet')).toHaveLength(2);
  });

  it('are ended after 900 ms', async () => {
    const leave = hold('one');
    held.dead.add('owner');
    await turn(CHECK_EVERY_MS);
    await checkLater(leave, 400);
    await turn(CHECK_EVERY_MS);
    expect(fenced()).toEqual([metaOf('one')]);
  });

  it('are not ended sooner', async () => {
    const leave = hold('one');
    held.dead.add('owner');
    await turn(CHECK_EVERY_MS);
    await checkLater(leave, 399);
    await turn(CHECK_EVERY_MS);
    expect(fenced()).toEqual([]);
  });

  it('are ended by the time at which the command was sent to Redis, however late the reply is', async () => {
    hold('one');
    held.dead.add('owner');
    const [latch, { answer }] = [new Latch(), held.redis];
    held.redis.answer = (sent) => latch.opened.then(() => answer(sent));
    await turn(CHECK_EVERY_MS + 400);
    latch.open();
    await turn(2 * CHECK_EVERY_MS - 400);
    expect(fenced()).toEqual([metaOf('one')]);
  });

  it('are not ended for a check before a delay of more than a second', async () => {
    const leave = hold('one');
    held.dead.add('owner');
    await turn(CHECK_EVERY_MS);
    await checkLater(leave, 501);
    await turn(CHECK_EVERY_MS);
    expect(fenced()).toEqual([]);
    await turn(2 * CHECK_EVERY_MS);
    expect(fenced()).toEqual([metaOf('one')]);
  });

  it('are ended for what was seen a second ago', async () => {
    const leave = hold('one');
    held.dead.add('owner');
    await turn(CHECK_EVERY_MS);
    await checkLater(leave, 500);
    await turn(CHECK_EVERY_MS);
    expect(fenced()).toEqual([metaOf('one')]);
  });

  it('are ended one after the other, also when Redis does not answer for one', async () => {
    hold('one');
    hold('two');
    held.dead.add('owner');
    const latch = new Latch();
    held.answerFence = () => latch.opened.then(() => Promise.reject(new Error('It was slow.')));
    await turn(3 * CHECK_EVERY_MS);
    expect(fenced()).toEqual([metaOf('one')]);
    await turn(CHECK_EVERY_MS);
    expect([fenced().length, held.redis.of('exists').length]).toEqual([1, 3]);
    latch.open();
    await turn();
    expect(fenced()).toEqual([metaOf('one'), metaOf('two')]);
    await turn(CHECK_EVERY_MS);
    expect(fenced()).toHaveLength(4);
  });

  it('go on when it has shown itself meanwhile', async () => {
    hold('one');
    held.dead.add('owner');
    await turn(2 * CHECK_EVERY_MS);
    held.dead.delete('owner');
    await turn(CHECK_EVERY_MS);
    expect(known()).toBe(0);
    held.dead.add('owner');
    await turn(2 * CHECK_EVERY_MS);
    expect(fenced()).toEqual([]);
    await turn(CHECK_EVERY_MS);
    expect(fenced()).toEqual([metaOf('one')]);
  });

  it('go on while Redis does not say that it is absent', async () => {
    hold('one');
    held.dead.add('owner');
    await turn(2 * CHECK_EVERY_MS);
    held.redis.failure = new RedisUnavailable('gone', false);
    await turn(CHECK_EVERY_MS);
    held.redis.failure = undefined;
    await turn(2 * CHECK_EVERY_MS);
    expect(fenced()).toEqual([]);
    await turn(CHECK_EVERY_MS);
    expect(fenced()).toEqual([metaOf('one')]);
  });

  it('continue for some time after an outage between two checks', async () => {
    hold('one');
    held.dead.add('owner');
    await turn(CHECK_EVERY_MS + 100);
    held.flicker();
    await turn(2 * CHECK_EVERY_MS);
    expect(fenced()).toEqual([]);
    await turn(CHECK_EVERY_MS);
    expect(fenced()).toEqual([metaOf('one')]);
  });

  it('go on until Redis has been available for two seconds', async () => {
    hold('one');
    held.dead.add('owner');
    held.redis.availableMs = 1_999;
    await turn(4 * CHECK_EVERY_MS);
    expect(held.redis.slots).toEqual([]);
    held.redis.availableMs = 2_000;
    await turn(3 * CHECK_EVERY_MS);
    expect(fenced()).toEqual([metaOf('one')]);
  });

  it('leave nothing behind when they have no readers any more', async () => {
    const leave = hold('one');
    hold('two', 'another');
    held.dead.add('owner');
    await turn(2 * CHECK_EVERY_MS);
    expect(known()).toBe(1);
    leave();
    await turn(CHECK_EVERY_MS);
    expect(known()).toBe(0);
  });
});

describe('a stream of a replica that is dead', () => {
  /** When the replica counts as dead. */
  const DEAD_AT = 3 * CHECK_EVERY_MS;

  it.each(['gone', 'ended'])('is lost when nothing more comes for four seconds and Redis says "%s"', async (state) => {
    hold('one');
    const [log] = held.mirrors.hold(remoteStream('one'));
    held.dead.add('owner');
    held.answerFence = () => state;
    await turn(DEAD_AT + 3_999);
    expect(log.ending).toBeUndefined();
    await turn(1);
    expect(log.ending).toMatchObject({ kind: 'failed', code: 'interrupted' });
    const asked = held.redis.sent.length;
    await turn(2 * CHECK_EVERY_MS);
    expect(held.redis.sent).toHaveLength(asked);
  });

  it('is not lost while its text still comes', async () => {
    hold('one');
    const [log] = held.mirrors.hold(remoteStream('one'));
    held.dead.add('owner');
    held.answerFence = () => 'ended';
    await turn(DEAD_AT + 3_900);
    held.say('one', 0, 'abc');
    await turn(100 + 3_999);
    expect(log.ending).toBeUndefined();
    await turn(1);
    expect([log.read(0, 10), log.ending]).toMatchObject(['abc', { code: 'interrupted' }]);
  });

  it('is not lost when this replica ends it, and its ending comes with its text', async () => {
    hold('one');
    const [log] = held.mirrors.hold(remoteStream('one'));
    held.dead.add('owner');
    await turn(DEAD_AT + 10_000);
    expect(log.ending).toBeUndefined();
    held.write('one', ['x', '']);
    const asked = held.redis.sent.length;
    await turn(2 * CHECK_EVERY_MS);
    expect(held.redis.sent).toHaveLength(asked);
  });
});
