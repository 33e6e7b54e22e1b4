import { beforeEach, describe, expect, it, vi } from 'vitest';
import { CredentialCache, type StoredCredential } from '../../../../src/accounts/credentials/credential-cache.js';
import { ServiceError } from '../../../../src/platform/common/service-error.js';
import { ShedLoad, type ShedReason } from '../../../../src/platform/common/shed-load.js';
import type { DatabaseAvailability, Availability } from '../../../../src/platform/database/database-availability.js';

const REMEMBERED_MS = 10_000;
const UNKNOWN_MS = 1_000;
const TRUSTED_MS = 10 * 60_000;
const AT_ONCE = 200;
const REFUSED = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

let now: number;
let rows: Map<string, string>;
let lookups: (readonly string[])[];
type Answer = (outcome: ReadonlyMap<string, string> | Error) => void;
/** The answers that the test gives by itself, instead of `rows` at once. */
let waiting: Answer[] | undefined;
/** What is known of the database, and what a check finds. */
let state: Availability;
let checked: Availability;
let failure: Error | undefined;
let shedLoad: ShedLoad;
let credentials: CredentialCache<StoredCredential>;
/** The position of the changes, and the one at which each account has changed. */
let position: number;
let changed: Map<string, number>;
let isCurrent: boolean;

const change = (accountId: string): unknown => changed.set(accountId, ++position);
/** Returns the account of each credential. */
const cache = {
  get: async (id: string, networkOf?: () => string) => (await credentials.get(id, networkOf))?.accountId,
  expect: (id: string) => {
    credentials.expect(id);
  },
};

beforeEach(() => {
  now = 1_000_000;
  rows = new Map([['key', 'ada']]);
  lookups = [];
  waiting = failure = undefined;
  state = checked = 'available';
  shedLoad = new ShedLoad();
  const availability = {
    get isUnavailable() {
      return state === 'unavailable';
    },
    check: () => Promise.resolve(checked),
  } as DatabaseAvailability;
  position = 0;
  changed = new Map();
  isCurrent = true;
  const changes = {
    get isCurrent() {
      return isCurrent;
    },
    hasChangedSince: (accountId: string, since: number) => (changed.get(accountId) ?? 0) > since,
  };
  credentials = new CredentialCache({
    what: 'API keys',
    lookUp: lookUpStored,
    changes,
    availability,
    shedLoad,
    now: () => now,
  });
});

async function lookUpStored(ids: readonly string[]): Promise<ReadonlyMap<string, StoredCredential>> {
  const readAt = position;
  return new Map([...(await lookUp(ids))].map(([id, accountId]) => [id, { accountId, readAt }]));
}

function lookUp(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  lookups.push(ids);
  if (failure !== undefined) return Promise.reject(failure);
  const answers = waiting;
  if (answers === undefined) return Promise.resolve(new Map(rows));
  return new Promise((resolve, reject) =>
    answers.push((outcome) => {
      if (outcome instanceof Error) reject(outcome);
      else resolve(outcome);
    }),
  );
}
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const failed = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);
const shed = (reason: ShedReason): number => new Map(shedLoad.counts).get(reason) ?? 0;

describe('a credential', () => {
  it('is remembered for ten seconds, which is a limit for changes that nothing tells', async () => {
    expect(await cache.get('key')).toBe('ada');
    rows.clear();
    now += REMEMBERED_MS - 1;
    expect(await cache.get('key')).toBe('ada');
    expect(lookups).toHaveLength(1);
    now += 1;
    expect(await cache.get('key')).toBeUndefined();
    expect(lookups).toHaveLength(2);
  });

  it('is remembered from the question on, not from the answer', async () => {
    waiting = [];
    const answer = cache.get('key');
    await turn();
    now += REMEMBERED_MS;
    waiting[0]?.(rows);
    expect(await answer).toBe('ada');
    waiting = undefined;
    await cache.get('key');
    expect(lookups).toHaveLength(2);
  });

  it('that does not exist is looked up again after a second', async () => {
    expect(await cache.get('nobody')).toBeUndefined();
    rows.set('nobody', 'bob');
    now += UNKNOWN_MS - 1;
    expect(await cache.get('nobody')).toBeUndefined();
    now += 1;
    expect(await cache.get('nobody')).toBe('bob');
    expect(lookups).toHaveLength(2);
  });

  it('has one lookup for all concurrent requests', async () => {
    waiting = [];
    const answers = [cache.get('key'), cache.get('key')];
    await turn();
    expect(lookups).toEqual([['key']]);
    waiting[0]?.(rows);
    expect(await Promise.all(answers)).toEqual(['ada', 'ada']);
    expect((Reflect.get(credentials, 'pending') as Map<string, unknown>).size).toBe(0);
  });
});

describe('a credential whose account has changed', () => {
  it('is looked up again at once, and others are not', async () => {
    rows.set('other', 'bob');
    await cache.get('key');
    await cache.get('other');
    rows = new Map();
    change('ada');
    expect([await cache.get('key'), await cache.get('other')]).toEqual([undefined, 'bob']);
    expect(lookups).toHaveLength(3);
  });

  it('is looked up again if it has changed during the lookup', async () => {
    waiting = [];
    const answers = [cache.get('key')];
    await turn();
    change('ada');
    answers.push(cache.get('key'));
    waiting.shift()?.(rows);
    await turn();
    expect(lookups).toEqual([['key'], ['key']]);
    waiting.shift()?.(new Map());
    expect(await Promise.all(answers)).toEqual([undefined, undefined]);
  });

  it('is not trusted during an outage', async () => {
    await cache.get('key');
    change('ada');
    state = 'unavailable';
    expect(await failed(cache.get('key'))).toMatchObject({ code: 'unavailable' });
  });
});

it('each request looks its credential up while changes of other replicas are not noticed', async () => {
  await cache.get('key');
  isCurrent = false;
  rows.clear();
  expect(await cache.get('key')).toBeUndefined();
  expect(lookups).toHaveLength(2);
});

describe('while the database is unavailable', () => {
  it('the last answer counts for ten minutes, without a question', async () => {
    await cache.get('key');
    state = 'unavailable';
    now += TRUSTED_MS - 1;
    expect(await cache.get('key')).toBe('ada');
    now += 1;
    expect(await failed(cache.get('key'))).toMatchObject({ code: 'unavailable' });
    expect(lookups).toHaveLength(1);
  });

  it('the last answer counts for who has noticed it, too', async () => {
    await cache.get('key');
    now += REMEMBERED_MS;
    failure = REFUSED;
    checked = 'unavailable';
    expect(await cache.get('key')).toBe('ada');
    expect(await failed(cache.get('other'))).toBeInstanceOf(ServiceError);
  });

  it('what did not exist counts as unknown for its second only', async () => {
    await cache.get('nobody');
    state = 'unavailable';
    expect(await cache.get('nobody')).toBeUndefined();
    now += UNKNOWN_MS;
    expect(await failed(cache.get('nobody'))).toMatchObject({ code: 'unavailable', retryAfterSeconds: 1 });
  });

  it('what has ended before is not trusted', async () => {
    await cache.get('key');
    rows.clear();
    now += REMEMBERED_MS;
    await cache.get('key');
    state = 'unavailable';
    now += UNKNOWN_MS;
    expect(await failed(cache.get('key'))).toMatchObject({ code: 'unavailable' });
  });

  it('a database that is only slow or wrong is not trusted either', async () => {
    await cache.get('key');
    now += REMEMBERED_MS;
    failure = Object.assign(new Error('syntax error'), { code: '42601' });
    expect(await failed(cache.get('key'))).toMatchObject({ code: 'unavailable', cause: failure });
  });
});

describe('unknown credentials', () => {
  const guess = (number: number, network: string) => cache.get(`guess-${network}-${number}`, () => network);

  it('are limited for each network, and never those that are known', async () => {
    // Time gives a part of the budget back.
    const clock = vi.spyOn(performance, 'now').mockReturnValue(1_000);
    for (let number = 0; number < AT_ONCE; number++) await guess(number, 'one');
    const before = lookups.length;
    expect(await failed(guess(AT_ONCE, 'one'))).toMatchObject({ code: 'rate_limit_exceeded', retryAfterSeconds: 1 });
    expect([lookups.length - before, shed('unknown_credentials')]).toEqual([0, 1]);
    expect(await guess(0, 'two')).toBeUndefined();
    cache.expect('key');
    expect(await cache.get('key', () => 'one')).toBe('ada');
    rows.set('met', 'bob');
    expect(await cache.get('met', () => 'two')).toBe('bob');
    now += REMEMBERED_MS;
    expect(await cache.get('met', () => 'one')).toBe('bob');
    clock.mockRestore();
  });

  it('take nothing from a network when they turn out to be known, or cannot be looked up', async () => {
    for (let number = 0; number < 2 * AT_ONCE; number++) {
      rows.set(`found-${number}`, 'ada');
      await cache.get(`found-${number}`, () => 'one');
    }
    failure = Object.assign(new Error('syntax error'), { code: '42601' });
    for (let number = 0; number < 2 * AT_ONCE; number++) await failed(guess(number, 'one'));
    failure = undefined;
    expect(await guess(0, 'one')).toBeUndefined();
    expect(shed('unknown_credentials')).toBe(0);
  });

  it('that are expected are looked up again at once', async () => {
    await cache.get('new');
    rows.set('new', 'ada');
    cache.expect('new');
    expect(await cache.get('new')).toBe('ada');
  });
});

it('too many lookups at once are refused', async () => {
  waiting = [];
  // One query runs, and 2,000 wait. Each comes from another network.
  const all = Array.from({ length: 2_001 }, (_, number) => failed(cache.get(String(number), () => String(number))));
  await turn();
  expect(await failed(cache.get('one more', () => 'another'))).toMatchObject({
    code: 'unavailable',
    retryAfterSeconds: 1,
  });
  expect(shed('credential_lookups')).toBe(1);
  while (waiting.length > 0) {
    waiting.shift()?.(new Map());
    await turn();
  }
  await Promise.all(all);
});
