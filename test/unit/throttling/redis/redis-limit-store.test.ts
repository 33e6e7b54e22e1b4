import { beforeEach, describe, expect, it, vi } from 'vitest';
import { RedisUnavailable, RedisTimeout } from '../../../../src/redis/redis-errors.js';
import { LimitFallback } from '../../../../src/throttling/limit-fallback.js';
import type { TierLimits } from '../../../../src/config/limits/limit-table.js';
import type { Admission, AdmissionRequest, Lease } from '../../../../src/throttling/limit-store.js';
import { limitsOf } from '../../../../src/throttling/tier-limits.js';
import {
  ADMIT,
  ADMITTED,
  RENEW,
  SETTLE,
  UNSEEDED,
  WITHDRAW,
} from '../../../../src/throttling/redis/account-scripts.js';
import { RedisLimitStore } from '../../../../src/throttling/redis/redis-limit-store.js';
import { TokensUsed } from '../../../../src/throttling/tokens/tokens-used.js';
import { turn } from '../../../support/moved-time.js';
import { FakeRedis } from '../fake-redis.js';

const NOW = Date.parse('2026-11-22T12:00:00Z');
const DAY = Date.parse('2026-11-22T00:00:00Z');
const DAY_MS = 86_400_000;
const [BY_TOKENS, BY_REQUESTS, BY_STREAMS] = [1, 2, 3];
const MINUTE_LEFT_MS = 30_000;
const RENEWED_EVERY_MS = 8_000;
const LIMITS: TierLimits = { requestsPerMinute: 5, concurrentStreams: 2, tokensPerDay: 1_000 };
/** The limits as arguments of `ADMIT`: their number, and each with its cost. */
const LIMIT_ARGS = [
  '3',
  ...['tokensPerDay', 'tokens', 'day', '1000', '1'],
  ...['requestsPerMinute', 'requests', 'minute', '5', '1'],
  ...['concurrentStreams', 'streams', 'none', '2', '1'],
];
const LOST = new RedisUnavailable('lost', true);
const AWAY = new RedisUnavailable('away', false);

let redis: FakeRedis;
let fallback: LimitFallback;
let store: RedisLimitStore;
let lookups: string[];
let used: () => Promise<number>;

class Ledger extends TokensUsed {
  since(accountId: string, from: Date): Promise<number> {
    lookups.push(`${accountId} ${from.toISOString()}`);
    return used();
  }
}

beforeEach(() => {
  vi.useFakeTimers({ now: NOW });
  redis = new FakeRedis();
  redis.answer = () => reply(ADMITTED);
  fallback = new LimitFallback();
  lookups = [];
  used = () => Promise.resolve(100);
  store = new RedisLimitStore(redis, new Ledger(), fallback);
});

/** What `ADMIT` returns: 930 tokens, 4 requests and 1 stream are left, and 70 tokens are granted, or the account is not seeded. */
const reply = (outcome: number): number[] => [
  outcome,
  outcome === UNSEEDED ? 1 : 70,
  NOW,
  930,
  DAY + DAY_MS,
  4,
  NOW + MINUTE_LEFT_MS,
  1,
  0,
];
const request = (limits = LIMITS, accountId = 'ada'): AdmissionRequest => ({
  accountId,
  limits: limitsOf(limits),
  tokens: { atLeast: 10, atMost: 70 },
});
const admit = (limits = LIMITS): Promise<Admission> => store.admit(request(limits));
async function admitted(limits = LIMITS): Promise<Lease> {
  const admission = await admit(limits);
  if (!admission.admitted) throw new Error(`Refused by ${admission.refusedBy}.`);
  return admission.lease;
}
const renewedAccounts = (): number =>
  (Reflect.get(Reflect.get(store, 'renewal') as object, 'byAccount') as Map<string, unknown>).size;
const idOf = (index: number): string => redis.argsOf(ADMIT)[index]?.[0] ?? '';

describe('an admission by Redis', () => {
  it('is one command, which brings the state and the tokens granted', async () => {
    expect(await admit()).toMatchObject({
      admitted: true,
      lease: { tokens: 70 },
      state: {
        requestsPerMinute: { limit: 5, remaining: 4, resetSeconds: 30 },
        concurrentStreams: { limit: 2, remaining: 1 },
        tokensPerDay: { limit: 1_000, remaining: 930, resetSeconds: 43_200 },
      },
    });
    const keys = ['chat:{ada}:use', 'chat:{ada}:streams', 'chat:{ada}:tokens'];
    expect(redis.sent).toMatchObject([{ keys, args: [idOf(0), '10', '70', '?', '0', ...LIMIT_ARGS] }]);
    expect(redis.slots).toEqual(['chat:{ada}:use']);
    expect(fallback.admissions).toBe(0);
  });

  it('has an id of its own, also next to other replicas', async () => {
    const other = new FakeRedis();
    other.answer = () => reply(ADMITTED);
    await admitted();
    await admitted();
    await new RedisLimitStore(other, new Ledger(), fallback).admit(request());
    const ids = [idOf(0), idOf(1), other.argsOf(ADMIT)[0]?.[0]];
    expect(new Set(ids).size).toBe(3);
    expect(ids[0]).toMatch(/^[\w-]{8}0$/);
  });

  it('knows no limit that the tier does not have', async () => {
    const admission = await admit({});
    expect(admission).toMatchObject({
      lease: { tokens: undefined },
      state: {},
    });
    expect(redis.argsOf(ADMIT)[0]?.slice(5)).toEqual(['0']);
  });

  it.each([
    ['tokensPerDay', BY_TOKENS, 43_200],
    ['requestsPerMinute', BY_REQUESTS, 30],
    ['concurrentStreams', BY_STREAMS, 1],
  ] as const)('may be a refusal by %s, which holds nothing', async (refusedBy, outcome, retryAfterSeconds) => {
    redis.answer = () => reply(outcome);
    expect(await admit()).toMatchObject({ admitted: false, refusedBy, retryAfterSeconds });
    redis.comeBack();
    await turn(RENEWED_EVERY_MS);
    expect(redis.of(RENEW)).toEqual([]);
  });
});

describe('a lease', () => {
  it('releases its slot once, and replaces its tokens by those used', async () => {
    const lease = await admitted();
    lease.release();
    lease.release();
    lease.settle(50);
    lease.settle(60);
    await turn();
    expect(redis.of('ZREM')).toMatchObject([{ keys: ['chat:{ada}:streams'], args: [idOf(0)] }]);
    expect(redis.argsOf(SETTLE)).toEqual([[idOf(0), '70', '50', '0', 'tokensPerDay', 'day']]);
  });

  it.each([NaN, -1, Infinity])('of which %s tokens were used is settled with all', async (tokens) => {
    (await admitted()).settle(tokens);
    expect(redis.argsOf(SETTLE)[0]?.slice(1, 3)).toEqual(['70', '70']);
  });

  it('reports nothing of what the tier does not limit', async () => {
    const lease = await admitted({ requestsPerMinute: 5 });
    lease.release();
    lease.settle(50);
    redis.comeBack();
    await turn(RENEWED_EVERY_MS);
    expect([redis.of('ZREM'), redis.of(SETTLE), redis.of(RENEW)]).toEqual([[], [], []]);
  });

  it('says that its settlement is a repetition when the first may have arrived', async () => {
    const lease = await admitted();
    redis.answer = () => Promise.reject(LOST);
    lease.settle(50);
    await turn();
    redis.answer = () => 0;
    redis.comeBack();
    await turn();
    expect(redis.argsOf(SETTLE).map((args) => args[3])).toEqual(['0', '1']);
  });

  it('is renewed for what it holds until it holds nothing', async () => {
    const lease = await admitted();
    const renewed = async (): Promise<(readonly string[])[]> => {
      const before = redis.of(RENEW).length;
      await turn(RENEWED_EVERY_MS);
      return redis.argsOf(RENEW).slice(before);
    };
    expect(await renewed()).toEqual([[idOf(0), '1', '70']]);
    lease.release();
    expect(await renewed()).toEqual([[idOf(0), '0', '70']]);
    lease.settle(50);
    expect(await renewed()).toEqual([]);
    expect(renewedAccounts()).toBe(0);
  });

  it('is not renewed when its slot is the last that it releases', async () => {
    const lease = await admitted();
    lease.settle(50);
    expect(renewedAccounts()).toBe(1);
    lease.release();
    expect(renewedAccounts()).toBe(0);
  });

  it('is not renewed once the service is down, whose replica leaves before', async () => {
    redis.comeBack();
    await admitted();
    await store.beforeApplicationShutdown();
    expect(redis.of('ZREM')).toMatchObject([{ keys: ['chat:replicas'] }]);
    store.onApplicationShutdown();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('an account without requests in this minute', () => {
  beforeEach(async () => {
    redis.answer = () => reply(BY_REQUESTS);
    await admit();
  });

  it('is refused without a question, until the minute is over', async () => {
    expect(store.precheck('ada', limitsOf(LIMITS))).toMatchObject({
      refusedBy: 'requestsPerMinute',
      retryAfterSeconds: 30,
    });
    expect(store.precheck('bob', limitsOf(LIMITS))).toBeUndefined();
    expect(redis.of(ADMIT)).toHaveLength(1);
    await turn(MINUTE_LEFT_MS);
    expect(store.precheck('ada', limitsOf(LIMITS))).toBeUndefined();
  });

  it('is read again after an outage', () => {
    redis.goAway(AWAY);
    redis.comeBack();
    expect(store.precheck('ada', limitsOf(LIMITS))).toBeUndefined();
  });
});

it.each([
  ['tokensPerDay', BY_TOKENS],
  ['concurrentStreams', BY_STREAMS],
])('a refusal by %s is not certain for the next request', async (_, outcome) => {
  redis.answer = () => reply(outcome);
  await admit();
  expect(store.precheck('ada', limitsOf(LIMITS))).toBeUndefined();
});

describe('the tokens that the ledger knows', () => {
  it('are read where Redis does not know them, and written to Redis once', async () => {
    redis.answer = ({ args }) => reply(args[3] === '?' ? UNSEEDED : ADMITTED);
    await admitted();
    expect(lookups).toEqual([`ada ${new Date(DAY).toISOString()}`]);
    expect(redis.argsOf(ADMIT).map((args) => args.slice(3, 5))).toEqual([
      ['?', '0'],
      ['100', String(DAY + DAY_MS)],
    ]);
    expect(idOf(1)).toBe(idOf(0));
  });

  it('are read again once, if midnight has passed meanwhile, and then the request continues without', async () => {
    redis.answer = ({ args }) => reply(args[3] === '' ? ADMITTED : UNSEEDED);
    await admitted();
    expect(lookups).toHaveLength(2);
    expect(redis.argsOf(ADMIT).map((args) => args[3])).toEqual(['?', '100', '100', '']);
  });

  it('are left out where the ledger does not answer', async () => {
    used = () => Promise.reject(new Error('away'));
    redis.answer = ({ args }) => reply(args[3] === '' ? ADMITTED : UNSEEDED);
    await admitted();
    expect(redis.argsOf(ADMIT).map((args) => args.slice(3, 5))).toEqual([
      ['?', '0'],
      ['', '0'],
    ]);
  });
});

describe('the state', () => {
  it('is read without an id, and counts nothing', async () => {
    expect(await store.peek('ada', limitsOf(LIMITS))).toMatchObject({ requestsPerMinute: { remaining: 4 } });
    expect(redis.argsOf(ADMIT)).toEqual([['', '0', '0', '?', '0', ...LIMIT_ARGS]]);
  });

  it('is that of this process while Redis is unavailable', async () => {
    redis.goAway(AWAY);
    expect(await store.peek('ada', limitsOf(LIMITS))).toMatchObject({
      requestsPerMinute: { remaining: 5 },
      tokensPerDay: { remaining: 900 },
    });
  });

  it('of this process has what its requests hold and use, of what the tier limits', async () => {
    const lease = await admitted();
    await admitted({ requestsPerMinute: 5 });
    redis.goAway(AWAY);
    expect(await store.peek('ada', limitsOf(LIMITS))).toMatchObject({
      concurrentStreams: { remaining: 1 },
      tokensPerDay: { remaining: 830 },
    });
    lease.settle(50);
    lease.release();
    expect(await store.peek('ada', limitsOf(LIMITS))).toMatchObject({
      concurrentStreams: { remaining: 2 },
      tokensPerDay: { remaining: 850 },
    });
  });

  it('is not known from a Redis that is slow, or refuses', async () => {
    redis.failure = new RedisTimeout(false);
    await expect(store.peek('ada', limitsOf(LIMITS))).rejects.toBe(redis.failure);
  });
});

describe('without an answer of Redis', () => {
  it.each([
    ['slow, with the command on its way', new RedisTimeout(true), 1],
    ['slow, with nothing sent', new RedisTimeout(false), 0],
  ])('a request is refused while Redis is %s; what may be admitted is released', async (_, failure, withdrawn) => {
    redis.answer = ({ name }) => (name === 'ZREM' ? 0 : Promise.reject(failure));
    const answer = admit();
    await expect(answer).rejects.toBe(failure);
    expect(redis.argsOf(WITHDRAW)).toEqual(withdrawn === 1 ? [[idOf(0)]] : []);
    expect(redis.of(WITHDRAW).every(({ keys }) => keys[0] === 'chat:{ada}:use')).toBe(true);
    expect(fallback.admissions).toBe(0);
  });

  it('a request that waited a second is refused, and released', async () => {
    redis.answer = () => new Promise(() => undefined);
    const outcome = admit().catch((error: unknown) => error);
    await turn(1_001);
    expect(await outcome).toBeInstanceOf(RedisTimeout);
    expect(redis.argsOf(WITHDRAW)).toEqual([[idOf(0)]]);
  });

  it('other errors are thrown, and nothing is counted', async () => {
    const failure = new Error('ERR');
    redis.answer = () => Promise.reject(failure);
    await expect(admit()).rejects.toBe(failure);
    await expect(store.peek('ada', limitsOf(LIMITS))).rejects.toBe(failure);
    expect([redis.of(WITHDRAW), fallback.admissions]).toEqual([[], 0]);
  });

  it('the share of this replica counts while Redis is unavailable, with what runs here already', async () => {
    await admitted();
    fallback.replicas = 2;
    redis.goAway(AWAY);
    // Half of 2 streams, of which one is held.
    expect(store.precheck('ada', limitsOf(LIMITS))).toMatchObject({ refusedBy: 'concurrentStreams' });
    expect(await admit()).toMatchObject({ admitted: false, refusedBy: 'concurrentStreams' });
    expect(fallback.admissions).toBe(0);
    const other = await store.admit(request(LIMITS, 'bob'));
    expect([other.admitted, fallback.admissions]).toEqual([true, 1]);
  });

  it('what was admitted here is written to Redis when it is available, under the id that it may know', async () => {
    redis.answer = () => Promise.reject(LOST);
    const lease = await admitted();
    expect([lease.tokens, fallback.admissions]).toEqual([70, 1]);
    redis.answer = () => 0;
    redis.comeBack();
    await turn();
    expect(redis.argsOf(RENEW)).toEqual([[idOf(0), '1', '70']]);
    expect(redis.of(WITHDRAW)).toEqual([]);
    lease.release();
    expect(redis.argsOf('ZREM')).toEqual([[idOf(0)]]);
  });

  it('what was refused here is released in Redis, if Redis may have admitted it', async () => {
    await admitted();
    fallback.replicas = 2;
    redis.answer = () => Promise.reject(LOST);
    expect((await admit()).admitted).toBe(false);
    redis.answer = () => 0;
    redis.comeBack();
    await turn();
    expect(redis.argsOf(WITHDRAW).at(-1)).toEqual([idOf(1)]);
  });

  it('what was refused here and never sent is not written', async () => {
    await admitted();
    fallback.replicas = 2;
    redis.goAway(AWAY);
    expect((await admit()).admitted).toBe(false);
    await turn();
    redis.comeBack();
    await turn();
    expect(redis.of(WITHDRAW)).toEqual([]);
  });

  it('the tokens of the day are read again in each outage, as other replicas use some', async () => {
    redis.goAway(AWAY);
    await admit();
    await admit();
    expect(lookups).toHaveLength(1);
    redis.comeBack();
    redis.goAway(AWAY);
    await admit();
    expect(lookups).toHaveLength(2);
  });
});

describe('the process', () => {
  it('keeps nothing of accounts that are idle', async () => {
    for (let number = 0; number < 20; number++) {
      const admission = await store.admit(request({ concurrentStreams: 2 }, `account-${number}`));
      if (admission.admitted) admission.lease.release();
    }
    const local = Reflect.get(store, 'local') as object;
    expect((Reflect.get(local, 'accounts') as Map<string, unknown>).size).toBeLessThanOrEqual(5);
  });

  it('loads the scripts whenever a server connects, and ignores a failure to load them', async () => {
    redis.comeBack();
    await turn();
    expect(redis.of('SCRIPT LOAD')).toHaveLength(4);
    redis.answer = () => Promise.reject(LOST);
    redis.comeBack();
    await turn();
    expect(redis.of('SCRIPT LOAD')).toHaveLength(8);
  });
});
