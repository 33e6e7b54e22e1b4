import { beforeEach, describe, expect, it, vi } from 'vitest';
import { RedisUnavailable, RedisTimeout } from '../../../../src/redis/redis-errors.js';
import { Outbox } from '../../../../src/throttling/redis/outbox.js';
import { turn } from '../../../support/moved-time.js';
import { FakeRedis } from '../fake-redis.js';

const RETRY_MS = 1_000;
const MAX_KEPT = 20_000;

let redis: FakeRedis;
let outbox: Outbox;

beforeEach(() => {
  vi.useFakeTimers();
  redis = new FakeRedis();
  outbox = new Outbox(redis);
});

const send = (name: string): void => {
  outbox.send('chat:key', (client, again) => client.zRem(name, String(again)));
};
/** What was sent: the names, and whether each may have been sent before. */
const sent = (): string[] => redis.of('ZREM').map(({ keys, args }) => `${keys.join()} ${args.join()}`);

describe('what no request waits for', () => {
  it('is sent at once and once, to the server of its key', async () => {
    send('a');
    expect(sent()).toEqual(['a false']);
    redis.comeBack();
    await turn(10 * RETRY_MS);
    expect([sent(), redis.slots, vi.getTimerCount()]).toEqual([['a false'], ['chat:key'], 0]);
  });

  it('is kept while Redis is unavailable, and sent once when it is back', async () => {
    redis.goAway(new RedisUnavailable('gone', false));
    send('a');
    send('b');
    await turn(10 * RETRY_MS);
    expect([sent(), vi.getTimerCount()]).toEqual([[], 0]);

    redis.comeBack();
    await turn();
    expect(sent()).toEqual(['a false', 'b false']);
    redis.comeBack();
    await turn();
    expect([sent().length, redis.slots.length]).toEqual([2, 4]);
  });

  it.each([
    ['that became unavailable', new RedisUnavailable('lost', true)],
    ['that was slow', new RedisTimeout(true)],
    ['that answered with an error', new Error('ERR')],
  ])('is marked as a repetition if it may have reached a Redis %s', async (_, error) => {
    redis.answer = () => Promise.reject(error);
    send('a');
    await turn();
    redis.answer = () => 1;
    redis.comeBack();
    await turn();
    expect(sent()).toEqual(['a false', 'a true']);
  });

  it('stays a repetition when a later try was not sent', async () => {
    redis.answer = () => Promise.reject(new RedisUnavailable('lost', true));
    send('a');
    await turn();
    redis.failure = new RedisUnavailable('gone', false);
    redis['notifyAvailable']();
    await turn();
    redis.answer = () => 1;
    redis.comeBack();
    await turn();
    expect(sent()).toEqual(['a false', 'a true']);
  });

  it('is tried again after a second when too many commands wait, with all others, and again after that', async () => {
    redis.failure = new RedisTimeout(false);
    send('a');
    await turn(RETRY_MS / 2);
    send('b');
    await turn();
    expect(vi.getTimerCount()).toBe(1);
    await turn(RETRY_MS / 2 - 1);
    expect(redis.slots).toHaveLength(2);
    await turn(1);
    expect([redis.slots.length, vi.getTimerCount()]).toEqual([4, 1]);

    redis.failure = undefined;
    await turn(RETRY_MS);
    expect([sent(), vi.getTimerCount()]).toEqual([['a false', 'b false'], 0]);
  });

  it('does not keep the process alive for its next try', async () => {
    vi.useRealTimers();
    redis.failure = new RedisTimeout(false);
    send('a');
    await new Promise((resolve) => setImmediate(resolve));
    const retrying = Reflect.get(outbox, 'retrying') as NodeJS.Timeout;
    expect(retrying.hasRef()).toBe(false);
    clearTimeout(retrying);
  });

  it('waits for the time of the next try only where Redis is slow', async () => {
    redis.failure = new RedisUnavailable('gone', false);
    send('a');
    await turn();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is sent in order, a hundred at once', async () => {
    redis.goAway(new RedisUnavailable('gone', false));
    for (let number = 0; number < 250; number++) send(String(number));
    await turn();
    const answers: (() => void)[] = [];
    redis.answer = () => new Promise<void>((resolve) => answers.push(resolve));
    redis.comeBack();
    await turn();
    expect([sent().length, sent()[0], sent()[99]]).toEqual([100, '0 false', '99 false']);
    answers[0]?.();
    await turn();
    expect(sent()).toHaveLength(100);
    for (const answer of answers) answer();
    await turn();
    expect(sent()).toHaveLength(200);
    for (const answer of answers) answer();
    await turn();
    expect([sent().length, sent()[249]]).toEqual([250, '249 false']);
  });

  it('is lost beyond twenty thousand, the oldest first', async () => {
    redis.goAway(new RedisUnavailable('gone', false));
    for (let number = 0; number <= MAX_KEPT; number++) send(String(number));
    await turn();
    redis.comeBack();
    await turn();
    expect([sent().length, sent()[0], sent().at(-1)]).toEqual([MAX_KEPT, '1 false', `${MAX_KEPT} false`]);
  });
});
