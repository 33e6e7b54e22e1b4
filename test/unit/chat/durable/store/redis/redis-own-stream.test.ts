import { beforeEach, describe, expect, it, vi } from 'vitest';
import { streamId } from '../../../../../../src/chat/durable/identity/stream-identity.js';
import { CLAIM_RELEASED } from '../../../../../../src/chat/durable/log/stream-log.js';
import {
  ABANDON,
  ENTER,
  RENEW_READERS,
  WRITE,
  DROP,
  RESTORE,
} from '../../../../../../src/chat/durable/store/redis/stream-scripts.js';
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
    expect(commands).toMatchObject([{ keys: [KEYS.meta, KEYS.text], slot: KEYS.meta, hasNoTimeout: true }]);
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

describe('what an own stream writes', () => {
  it('is kept longer while the stream runs, and has the ending at the end', async () => {
    log.begin();
    log.append('Hello');
    await turn();
    log.end(DONE);
    await turn();
    const [running, last] = redis.of(WRITE);
    expect(running).toMatchObject({ keys: [KEYS.meta, KEYS.text], slot: KEYS.meta, hasNoTimeout: true });
    expect(running?.args.slice(0, 5)).toEqual([GENERATION, 'running', '90000', 'o', '0']);
    expect(last?.args.slice(0, 5)).toEqual([GENERATION, 'ended', '30000', 'o', '5']);
    const seen = mirrorOf(running?.args.slice(3) ?? []);
    expect([seen.read(0, 9), seen.ending]).toEqual(['Hello', undefined]);
    expect(mirrorOf(['o', '0', ...(last?.args.slice(7) ?? []), 't', running?.args[6]]).ending).toEqual(DONE);
    expect([vi.mocked(onOver).mock.calls.length, redis.of(DROP)]).toEqual([1, []]);
  });

  it('has no ending before the last entry', async () => {
    log.begin();
    log.end(DONE);
    expect(await stream.write(0, 'Hello', false)).toBe('ok');
    expect(redis.argsOf(WRITE)[0]).toHaveLength(7);
  });

  it('is deleted after the ending, if the stream is dropped', async () => {
    const [written, dropped] = [new Latch(), new Latch()];
    redis.on(DROP, () => dropped.opened);
    stream.drop();
    log.begin();
    await turn();
    expect(redis.of(DROP)).toEqual([]);
    redis.on(WRITE, () => written.opened.then(() => 'ok'));
    log.end(DONE);
    await turn();
    expect([redis.of(WRITE).length, redis.of(DROP)]).toEqual([2, []]);
    written.open();
    await turn();
    const all = [KEYS.meta, KEYS.text, KEYS.readers];
    expect(redis.of(DROP)).toMatchObject([{ keys: all, args: [GENERATION], slot: KEYS.meta, hasNoTimeout: true }]);
    expect(await isOver(stream.stored)).toBe(false);
    dropped.open();
    expect(await isOver(stream.stored)).toBe(true);
  });

  it('is written again where it could not be deleted', async () => {
    redis.on(DROP, () => Promise.reject(AWAY));
    stream.drop();
    await ended(log);
    redis.on(DROP, () => undefined);
    expect(await isOver(stream.stored)).toBe(false);
    await turn(500);
    expect([await isOver(stream.stored), redis.of(WRITE).length, redis.of(DROP).length]).toEqual([true, 2, 2]);
  });

  it('comes to nothing where another replica has ended the stream', async () => {
    redis.on(WRITE, () => 'ended');
    log.begin();
    await turn();
    const message = 'Another replica has ended this stream, because this one did not answer.';
    expect(onStop.mock.calls).toMatchObject([[{ code: 'interrupted', message }]]);
    expect(await isOver(stream.stored)).toBe(true);
  });

  it('changes nothing for a stream that has ended here, too', async () => {
    redis.on(WRITE, () => 'ended');
    await ended(log);
    expect([await isOver(stream.stored), onStop.mock.calls]).toEqual([true, []]);
  });
});

describe('an own stream that Redis has lost', () => {
  it('is restored with all that the claim has written', async () => {
    redis.on(RESTORE, () => 'ended');
    expect(await stream.restore('waiting')).toBe('ended');
    const args = [GENERATION, 'replica-1', 'wrap', 'check', '90000', 'waiting'];
    expect(redis.of(RESTORE)).toEqual([
      expect.objectContaining({ keys: [KEYS.meta, KEYS.text], args, slot: KEYS.meta, hasNoTimeout: true }),
    ]);
  });

  it('is not restored when it is dropped', async () => {
    stream.drop();
    expect([await stream.restore('running'), redis.sent]).toEqual(['taken', []]);
  });
});

describe('an own stream without text for a long time', () => {
  const keepAlive = async (afterMs: number, availableMs = Infinity): Promise<number> => {
    const before = redis.of(RESTORE).length;
    await turn(afterMs);
    redis.availableMs = availableMs;
    await stream.keepAlive();
    await turn();
    return redis.of(RESTORE).length - before;
  };

  it('stays in Redis with its text', async () => {
    expect(await keepAlive(20_000)).toBe(0);
    expect(redis.availabilityOf).toEqual([KEYS.meta]);
    expect(redis.of('pExpire')).toMatchObject([
      { keys: [KEYS.meta], args: [90_000], slot: KEYS.meta, hasNoTimeout: false },
      { keys: [KEYS.text], args: [90_000] },
    ]);
  });

  it('is restored where Redis has lost it, but not where it has no text yet', async () => {
    redis.on('pExpire', ({ keys }) => (keys[0] === KEYS.text ? 0 : 1));
    expect(await keepAlive(20_000)).toBe(0);
    redis.on('pExpire', ({ keys }) => (keys[0] === KEYS.meta ? 0 : 1));
    expect(await keepAlive(20_000)).toBe(1);
  });

  it('is restored once after an outage since the last time', async () => {
    expect(await keepAlive(20_000, 20_000)).toBe(0);
    expect(await keepAlive(20_000, 19_999)).toBe(1);
    expect(await keepAlive(20_000, 39_999)).toBe(0);
  });

  it('is restored after an outage during the last time', async () => {
    const answered = new Latch();
    redis.on('pExpire', () => answered.opened.then(() => 1));
    await turn(1_000);
    const kept = stream.keepAlive();
    await turn(500);
    answered.open();
    await kept;
    expect(await keepAlive(500, 700)).toBe(1);
  });

  it('is restored after an outage that the last time has met', async () => {
    redis.on('pExpire', () => Promise.reject(AWAY));
    await expect(keepAlive(20_000, 1)).rejects.toBe(AWAY);
    redis.on('pExpire', () => 1);
    expect(await keepAlive(20_000, 20_000)).toBe(1);
  });
});
