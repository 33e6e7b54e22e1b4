import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AccountsService } from '../../src/accounts/accounts/accounts.service.js';
import { LimitStore } from '../../src/throttling/limit-store.js';
import { limitsOf } from '../../src/throttling/account-limits.js';
import { accountKeys } from '../../src/throttling/redis/account-scripts.js';
import { UsageLedger } from '../../src/usage/ledger/usage-ledger.js';
import type { UsageRecord } from '../../src/usage/record/usage-record.js';
import { UsageStore } from '../../src/usage/store/usage-store.js';
import { testEngines, type TestDatabase } from '../support/database.js';
import { testRedis, type TestRedis } from '../support/redis.js';
import { startService, type RunningService } from '../support/service.js';
import { stream } from '../support/sse-client.js';
import { setStage } from '../support/stage.js';
import { waitFor } from '../support/wait-for.js';
import { LIMIT, LIMITS, Replica } from './redis-replica.js';

const redis = await testRedis();
const EMAIL = 'ada@example.com';

describe.each(await testEngines())('a stream on $name: its record, then its tokens', (engine) => {
  let database: TestDatabase;
  let records: UsageRecord[];
  const used = () =>
    records
      .flatMap(({ inputTokens, outputTokens }) => [inputTokens, outputTokens])
      .reduce((sum, { count = 0 }) => sum + count, 0);

  beforeEach(async () => {
    records = [];
    database = await engine.create();
  });
  afterEach(() => database.drop());

  const options = () => {
    const { config } = database;
    const url = config.type === 'sqlite' ? `sqlite:${config.path}` : config.url;
    return { env: { DATABASE_URL: url }, tiers: { free: { tokens_per_day: LIMIT } }, records };
  };
  const left = async ({ app }: RunningService): Promise<number | undefined> => {
    const account = await app.get(AccountsService, { strict: false }).findByEmail(EMAIL);
    const state = await app.get<LimitStore>(LimitStore, { strict: false }).peek(account?.id ?? '', limitsOf(LIMITS));
    return state.tokensPerDay?.remaining;
  };

  it('the record is written: the tokens are counted once, here and by the next process', async () => {
    const first = await setStage(1, options());
    const { key } = await first.service.createKey({ email: EMAIL });
    await (await stream(first.origin, { key })).body();
    await waitFor(() => used() > 0, 'the record');
    expect(await left(first.service)).toBe(LIMIT - used());
    await first.clear();
    const second = await startService(options());
    expect(await left(second)).toBe(LIMIT - used());
    await second.stop();
  });

  it('the record cannot be written: the tokens are counted, and again by the next process once it is', async () => {
    const first = await setStage(1, options());
    const { key } = await first.service.createKey({ email: EMAIL });
    const store = first.service.app.get<UsageStore>(UsageStore, { strict: false });
    const append = store.append.bind(store);
    store.append = () => Promise.reject(new Error('The connection was cut.'));
    await (await stream(first.origin, { key })).body();
    const ledger = first.service.app.get(UsageLedger, { strict: false });
    await waitFor(() => ledger.writeFailures > 0, 'the failure');
    expect(await left(first.service)).toBe(LIMIT - used());
    store.append = append;
    await first.clear();
    const second = await startService(options());
    expect(await left(second)).toBe(LIMIT - used());
    await second.stop();
  });
});

// None where no Redis answers, which `testRedis` says loudly.
describe.each(redis === undefined ? [] : [redis])(
  'tokens in Redis: reserved, then settled',
  ({ url, client, drop }) => {
    let first: Replica;
    let second: Replica;
    let accounts = 0;
    let accountId: string;

    beforeEach(async () => {
      accountId = `account-${++accounts}`;
      first = await Replica.start(url);
      second = await Replica.start(url);
    });
    afterEach(async () => {
      await first.stop();
      await second.stop();
    });
    afterAll(() => drop());

    it.each(['before', 'after'] as const)('the settlement fails %s Redis has it: it counts once', async (when) => {
      const lease = await first.admit(accountId);
      first.connection.loses = when;
      lease.settle(30);
      await waitFor(() => first.connection.lost === 1, 'the answer to be lost');
      first.connection.answerAgain();
      await waitFor(async () => (await second.left(accountId)) === LIMIT - 30, 'the settlement');
      // What is kept has been sent: another return of Redis finds nothing.
      first.connection.answerAgain();
      expect(await second.left(accountId)).toBe(LIMIT - 30);
      expect(await first.left(accountId)).toBe(LIMIT - 30);
    });

    it('killed between them: the reservation expires, and nothing counts as used', async () => {
      await first.admit(accountId);
      expect(await second.left(accountId)).toBe(LIMIT - 100);
      await expire(client, accountId);
      expect(await second.left(accountId)).toBe(LIMIT);
    });

    it('counted as dead between them: the settlement counts once, and releases nothing twice', async () => {
      const lease = await first.admit(accountId);
      await expire(client, accountId);
      await second.admit(accountId);
      expect(await second.left(accountId)).toBe(LIMIT - 100);
      lease.settle(30);
      await waitFor(async () => (await second.left(accountId)) === LIMIT - 130, 'the settlement');
    });
  },
);

/** Moves the end of all reservations of the account into the past, as the clock is that of Redis. */
async function expire(client: TestRedis['client'], accountId: string): Promise<void> {
  const [, , reservations] = accountKeys(accountId);
  const members = await client.zRange(reservations, 0, -1);
  for (const value of members) await client.zAdd(reservations, { score: 1, value });
}
