import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { streamId } from '../../../../../../src/chat/durable/identity/stream-identity.js';
import { CLAIM_RELEASED, StreamLog } from '../../../../../../src/chat/durable/log/stream-log.js';
import { orUnavailable, unavailable } from '../../../../../../src/chat/durable/store/redis/redis-availability.js';
import {
  RedisRemoteStream,
  type RemoteTools,
} from '../../../../../../src/chat/durable/store/redis/redis-remote-stream.js';
import { ServiceError } from '../../../../../../src/common/service-error.js';
import { RedisTimeout } from '../../../../../../src/redis/redis-errors.js';
import { memoryOf } from '../../../../../contract/durable/describe-stream-store.js';
import { Latch, isOver } from '../../../../../support/latch.js';
import { stopTime, turn } from '../../../../../support/moved-time.js';
import { AWAY } from './fake-stream-redis.js';
import { ADDRESS, GENERATION, KEYS } from './scripted-stream-redis.js';

const REMOTE = { accountId: 'ada', keys: KEYS, generation: GENERATION, secret: ADDRESS.secret, owner: 'replica-2' };
const CANCELLED_WITHIN_MS = 10_000;

let log: StreamLog;
let stream: RedisRemoteStream;
/** What was done, in order. */
let done: string[];
let hold: ReturnType<typeof vi.fn<RemoteTools['mirrors']['hold']>>;
let enter: ReturnType<typeof vi.fn<RemoteTools['slots']['enter']>>;
let send: ReturnType<typeof vi.fn<RemoteTools['cancellations']['send']>>;

beforeEach(() => {
  stopTime();
  log = new StreamLog(memoryOf());
  done = [];
  hold = vi.fn(() => {
    done.push('hold');
    return [log, () => done.push('release')];
  });
  enter = vi.fn(() => {
    done.push('enter');
    return Promise.resolve(() => done.push('leave'));
  });
  send = vi.fn(() => {
    done.push('send');
    return Promise.resolve();
  });
  stream = new RedisRemoteStream(ADDRESS, REMOTE, {
    mirrors: { hold },
    slots: { enter },
    cancellations: { send },
  } as unknown as RemoteTools);
});
afterEach(() => {
  vi.useRealTimers();
});

/** Time limits are over one turn of the event loop after their timer. */
async function wait(ms: number): Promise<void> {
  await turn(ms);
  await new Promise((resolve) => setImmediate(resolve));
}
const end = (): void => {
  log.end({ kind: 'done' });
};

describe('a reader of a remote stream', () => {
  it('acquires a slot, then reads the log of all readers here', async () => {
    expect(stream.id).toBe(streamId(ADDRESS));
    await stream.enter();
    expect(stream.log).toBe(log);
    expect([enter.mock.calls, hold.mock.calls]).toEqual([[[KEYS, GENERATION]], [[REMOTE]]]);
    expect(done).toEqual(['enter', 'hold']);
  });

  it('has no log before', () => {
    expect(() => stream.log).toThrow('Enter the stream before you read its log.');
  });

  it('leaves the log and the slot once', async () => {
    const leave = await stream.enter();
    done = [];
    leave();
    leave();
    expect(done).toEqual(['release', 'leave']);
  });

  it('releases its slot where the memory is full', async () => {
    const full = new Error('full');
    hold.mockImplementation(() => {
      throw full;
    });
    await expect(stream.enter()).rejects.toBe(full);
    expect(done).toEqual(['enter', 'leave']);
  });

  it('follows nothing without a slot', async () => {
    enter.mockRejectedValue(AWAY);
    await expect(stream.enter()).rejects.toBe(AWAY);
    expect(done).toEqual([]);
  });
});

describe('a remote stream that is cancelled', () => {
  it('is followed, then a request to its owner is sent, then the ending is awaited', async () => {
    const cancelled = stream.cancel();
    log.begin();
    log.append('Hello');
    expect(await isOver(cancelled)).toBe(false);
    expect([send.mock.calls, done]).toEqual([[['replica-2', KEYS.text]], ['hold', 'send']]);
    expect(hold.mock.calls).toEqual([[REMOTE]]);
    end();
    expect([await isOver(cancelled), done, vi.getTimerCount()]).toEqual([true, ['hold', 'send', 'release'], 0]);
  });

  it('waits for nothing where the ending is there', async () => {
    end();
    expect(await isOver(stream.cancel())).toBe(true);
  });

  it('sends the request to its owner first, although the ending is there', async () => {
    const sent = new Latch();
    send.mockReturnValue(sent.opened);
    end();
    const cancelled = stream.cancel();
    expect([await isOver(cancelled), done]).toEqual([false, ['hold']]);
    sent.open();
    expect([await isOver(cancelled), done]).toEqual([true, ['hold', 'release']]);
  });

  it('waits for nothing more when it is abandoned', async () => {
    const cancelled = stream.cancel();
    await turn();
    log.abandon(CLAIM_RELEASED);
    expect([await isOver(cancelled), done.at(-1)]).toEqual([true, 'release']);
  });

  it('has ten seconds to end', async () => {
    const outcome = stream.cancel().catch((error: unknown) => error);
    await wait(CANCELLED_WITHIN_MS - 1);
    expect([await isOver(outcome), done.includes('release')]).toEqual([false, false]);
    await wait(1);
    expect([await isOver(outcome), done.at(-1)]).toEqual([true, 'release']);
    expect(await outcome).toMatchObject({ code: 'unavailable', message: 'Try again.', retryAfterSeconds: 1 });
  });

  it('is not cancelled while Redis is unavailable, and is followed no longer', async () => {
    send.mockRejectedValue(AWAY);
    await expect(stream.cancel()).rejects.toMatchObject({ code: 'unavailable', cause: AWAY });
    const followers = Reflect.get(log, 'listeners') as Set<unknown>;
    expect([done, followers.size, vi.getTimerCount()]).toEqual([['hold', 'release'], 0, 0]);
  });
});

describe('the commands for a stream', () => {
  it('have their outcome', async () => {
    expect(await orUnavailable(Promise.resolve('outcome'))).toBe('outcome');
  });

  it('fail with an error for clients when Redis is unavailable', async () => {
    const failure: unknown = await orUnavailable(Promise.reject(AWAY)).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ServiceError);
    expect(failure).toMatchObject({
      code: 'unavailable',
      message: 'Durable streams are not available right now. Try again.',
      retryAfterSeconds: 1,
      cause: AWAY,
    });
    expect(unavailable()).toMatchObject({ code: 'unavailable', retryAfterSeconds: 1 });
  });

  it.each([new RedisTimeout(true), new Error('ERR')])('fail with any other error as it is: %s', async (error) => {
    await expect(orUnavailable(Promise.reject(error))).rejects.toBe(error);
  });
});
