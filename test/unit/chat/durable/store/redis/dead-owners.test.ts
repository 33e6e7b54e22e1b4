import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FENCE } from '../../../../../../src/chat/durable/store/redis/stream-scripts.js';
import { RedisUnavailable } from '../../../../../../src/redis/redis-unavailable.js';
import { Latch } from '../../../../../support/latch.js';
import { stopTime, turn } from '../../../../../support/moved-time.js';
import { FollowedMirrors, GENERATION, CHECK_EVERY_MS, RETENTION_MS, remoteStream } from './followed-mirrors.js';

let held: FollowedMirrors;

beforeEach(() => {
  stopTime();
  held = new FollowedMirrors();
});
afterEach(() => {
  held.mirrors.stop();
  vi.useRealTimers();
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
async function lookLater(leave: () => void, ms: number): Promise<void> {
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
    await lookLater(leave, 400);
    await turn(CHECK_EVERY_MS);
    expect(fenced()).toEqual([metaOf('one')]);
  });

  it('are not ended sooner', async () => {
    const leave = hold('one');
    held.dead.add('owner');
    await turn(CHECK_EVERY_MS);
    await lookLater(leave, 399);
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
    await lookLater(leave, 501);
    await turn(CHECK_EVERY_MS);
    expect(fenced()).toEqual([]);
    await turn(2 * CHECK_EVERY_MS);
    expect(fenced()).toEqual([metaOf('one')]);
  });

  it('are ended for what was seen a second ago', async () => {
    const leave = hold('one');
    held.dead.add('owner');
    await turn(CHECK_EVERY_MS);
    await lookLater(leave, 500);
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
