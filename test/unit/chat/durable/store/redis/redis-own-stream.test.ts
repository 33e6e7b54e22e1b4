import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { streamId } from '../../../../../../src/chat/durable/identity/stream-identity.js';
import { CLAIM_RELEASED } from '../../../../../../src/chat/durable/log/stream-log.js';
import { ABANDON, ENTER, RENEW_READERS, WRITE } from '../../../../../../src/chat/durable/store/redis/stream-scripts.js';
import { ServiceError } from '../../../../../../src/common/service-error.js';
import { Latch, isOver } from '../../../../../support/latch.js';
import { turn } from '../../../../../support/moved-time.js';
import { DONE, ended, mirrorOf, ownStream, type OwnStreamStage } from './own-streams.js';
import { AWAY } from './fake-stream-redis.js';
import { ADDRESS, GENERATION, KEYS, unhandledIn } from './scripted-stream-redis.js';

let redis: OwnStreamStage['redis'];
let memory: OwnStreamStage['memory'];
let log: OwnStreamStage['log'];
let stream: OwnStreamStage['stream'];
let onOver: OwnStreamStage['onOver'];
let onStop: OwnStreamStage['onStop'];

beforeEach(() => {
  ({ redis, memory, log, stream, onOver, onStop } = ownStream());
});
afterEach(() => {
  vi.useRealTimers();
});

it('an own stream has the id of its address', () => {
  expect(stream.id).toBe(streamId(ADDRESS));
});

describe('the readers of an own stream', () => {
  it('acquire a slot in Redis, and release it once', async () => {
    const leave = await stream.enter();
    expect(redis.of(ENTER)).toMatchObject([{ keys: [KEYS.meta, KEYS.readers], args: [GENERATION, {}, '4'] }]);
    leave();
    leave();
    expect(redis.of('zRem')).toMatchObject([{ keys: [KEYS.readers], args: [redis.argsOf(ENTER)[0]?.[1]] }]);
  });

  it('are counted by their slots here, otherwise by Redis', async () => {
    redis.on(RENEW_READERS, () => 3);
    const leaves = [stream.enterFirst('reader-1'), await stream.enter()];
    expect(await stream.readers()).toBe(2);
    for (const leave of leaves) leave();
    expect(await stream.readers()).toBe(3);
    expect(redis.of(RENEW_READERS)).toMatchObject([{ keys: [KEYS.readers] }]);
  });

  it('begin with the one whose slot the claim has acquired', () => {
    stream.enterFirst('reader-1')();
    expect([redis.of(ENTER), redis.argsOf('zRem')]).toEqual([[], [['reader-1']]]);
  });

  it('hold the text until the last of them leaves, also after the end', async () => {
    const [first, second] = [stream.enterFirst('reader-1'), await stream.enter()];
    await ended(log);
    first();
    first();
    expect(memory.used).toBeGreaterThan(0);
    second();
    expect(memory.used).toBe(0);
  });

  it('do not take the text along when they leave before the end', async () => {
    stream.enterFirst('reader-1')();
    expect(memory.used).toBeGreaterThan(0);
    await ended(log);
    expect(memory.used).toBe(0);
  });

  it('are not counted where there is no slot', async () => {
    redis.on(ENTER, () => 0);
    await expect(stream.enter()).rejects.toMatchObject({ code: 'concurrency_limit_exceeded' });
    await ended(log);
    expect(memory.used).toBe(0);
  });
});

describe('an own stream that is cancelled', () => {
  it('stops its generation, and waits until Redis has the ending', async () => {
    const written = new Latch();
    log.begin();
    await turn();
    redis.on(WRITE, () => written.opened.then(() => 'ok'));
    const cancelled = stream.cancel();
    expect(onStop.mock.calls).toMatchObject([[{ code: 'cancelled', message: 'The stream was cancelled.' }]]);
    log.end(DONE);
    expect([await isOver(cancelled), await isOver(stream.stored)]).toEqual([false, false]);
    written.open();
    expect([await isOver(cancelled), await isOver(stream.stored)]).toEqual([true, true]);
  });

  it('after its end is left alone, although Redis does not have it yet', async () => {
    redis.failure = AWAY;
    await ended(log);
    expect(await isOver(stream.cancel())).toBe(true);
    expect(onStop).not.toHaveBeenCalled();
  });
});

describe('an own stream that is abandoned', () => {
  it('reports the reason here and, sealed, to other replicas, and writes nothing more', async () => {
    const reason = new ServiceError('upstream_rejected', 'Too long.', { status: 413 });
    stream.abandon(reason);
    await expect(log.begun).rejects.toBe(reason);
    expect([await isOver(stream.stored), vi.mocked(onOver).mock.calls.length, memory.used]).toEqual([true, 1, 0]);
    const commands = redis.of(ABANDON);
    expect(commands).toMatchObject([{ keys: [KEYS.meta, KEYS.text], slot: KEYS.meta, isPatient: true }]);
    const [generation, failure] = commands[0]?.args ?? [];
    expect(generation).toBe(GENERATION);
    await expect(mirrorOf(['r', failure]).begun).rejects.toMatchObject({ code: 'upstream_rejected', status: 413 });
    log.begin();
    await turn(1_000);
    expect(redis.of(WRITE)).toEqual([]);
  });

  it('reports no reason where the claim is only released', () => {
    stream.abandon(CLAIM_RELEASED);
    expect(redis.argsOf(ABANDON)).toEqual([[GENERATION, '']]);
  });

  it('ignores that Redis is unavailable', async () => {
    redis.failure = AWAY;
    expect(
      await unhandledIn(() => {
        stream.abandon(CLAIM_RELEASED);
      }),
    ).toEqual([]);
    expect(redis.slots).toEqual([KEYS.meta]);
  });
});
