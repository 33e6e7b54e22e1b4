import fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { EmbeddedAvailability } from '../../../src/platform/database/database-availability.js';
import { dataSourceOptions, openDataSource } from '../../../src/platform/database/database.module.js';
import {
  FAILED_OUTCOMES,
  STREAM_OUTCOMES,
  type TokenCount,
  type UsageRecord,
} from '../../../src/usage/record/usage-record.js';
import type { AccountUsageRow } from '../../../src/usage/queries/usage-reports.js';
import { UsageStore } from '../../../src/usage/store/usage-store.js';
import { testEngines } from '../../support/database.js';
import { ledgerSuite } from './ledger-suite.js';
import { interrupted, over, TODAY } from './records.js';

const DAY_MS = 86_400_000;
/** How many connections are killed at most. Then all that is left to write is written. */
const MAX_KILLS = 300;
const [FROM, TO] = [new Date(TODAY - 400 * DAY_MS), new Date(TODAY + 400 * DAY_MS)];

/** A failure before the first text, which costs nothing unless its provider has reported tokens. */
const FAILED_EARLY = `first_text_at IS NULL AND outcome IN ('upstream_failed', 'rejected', 'timed_out', 'drained', 'failed')`;
const IS_FREE = `(${FAILED_EARLY} AND prompt_tokens IS NULL AND completion_tokens IS NULL)`;
/** What the records of the ledger come to, summed up from one to the next: what the sums by day must always say. */
const REFERENCE = `
  SELECT SUBSTR(started_at, 1, 10) AS day, account_id, model, credential, key_id, currency, MAX(key_prefix) AS key_prefix,
    COUNT(*) AS requests,
    SUM(CASE WHEN outcome = 'completed' THEN 1 ELSE 0 END) AS completed,
    SUM(CASE WHEN outcome IN (${FAILED_OUTCOMES.map((outcome) => `'${outcome}'`).join(', ')}) THEN 1 ELSE 0 END) AS errors,
    SUM(COALESCE(prompt_tokens, 0)) AS prompt_tokens,
    SUM(COALESCE(completion_tokens, 0)) AS completion_tokens,
    SUM(CASE WHEN (prompt_tokens IS NULL OR completion_tokens IS NULL) AND NOT (${FAILED_EARLY})
      THEN 1 ELSE 0 END) AS tokens_unknown,
    SUM(CASE WHEN prompt_tokens_source IN ('estimated', 'implausible') AND prompt_tokens IS NOT NULL
      OR completion_tokens_source IN ('estimated', 'implausible') AND completion_tokens IS NOT NULL THEN 1 ELSE 0 END
    ) AS tokens_estimated,
    SUM(CASE WHEN ${IS_FREE} THEN COALESCE(cost_micros, 0) ELSE cost_micros END) AS cost_micros,
    SUM(CASE WHEN cost_micros IS NULL AND NOT ${IS_FREE} THEN 1 ELSE 0 END) AS without_cost
  FROM usage_records GROUP BY SUBSTR(started_at, 1, 10), account_id, model, credential, key_id, currency`;

const token: fc.Arbitrary<TokenCount> = fc.oneof(
  fc.record({ source: fc.constantFrom('reported' as const, 'estimated' as const), count: fc.nat(5_000_000) }),
  fc.constant({ source: 'unknown' as const }),
  fc.record({
    source: fc.constant('implausible' as const),
    count: fc.option(fc.nat(9), { nil: undefined }),
    reported: fc.constant(3e9),
  }),
);
const credential = fc.constantFrom(
  { credential: 'api_key', keyId: 'laptop', keyPrefix: 'csk_laptop' } as const,
  { credential: 'api_key', keyId: 'server', keyPrefix: 'csk_server' } as const,
  { credential: 'session', keyId: undefined, keyPrefix: undefined } as const,
  { credential: 'external', keyId: undefined, keyPrefix: undefined } as const,
);
const money = fc.constantFrom(
  { price: undefined, costMicros: undefined },
  { price: { inputPerMillion: 1, outputPerMillion: 2, currency: 'USD' }, costMicros: 1_000_001 },
  { price: { inputPerMillion: 1, outputPerMillion: 2, currency: 'EUR' }, costMicros: 0 },
  { price: { inputPerMillion: 1, outputPerMillion: 2, currency: 'EUR' }, costMicros: undefined },
);
const record = fc
  .tuple(
    fc.record({
      accountId: fc.constantFrom('ada', 'bob'),
      model: fc.constantFrom('acme/fast', 'acme/slow'),
      startedAt: fc.integer({ min: -2, max: 2 }).map((days) => TODAY + days * DAY_MS + 5),
      outcome: fc.constantFrom(...STREAM_OUTCOMES),
      firstTextAt: fc.constantFrom(undefined, TODAY),
      inputTokens: token,
      outputTokens: token,
    }),
    credential,
    money,
  )
  .map(([parts, who, cost]) => over({ ...parts, ...who, ...cost }));
/** Records as a replica hands them to the store, some of which others have taken for interrupted before. */
const batch = fc.array(fc.tuple(record, fc.boolean()), { minLength: 1, maxLength: 20 });

describe.each(await testEngines())('the sums by day on $name', (engine) => {
  const ledger = ledgerSuite(engine);

  const open = () => openDataSource(dataSourceOptions(ledger.database.config));

  async function reference(): Promise<AccountUsageRow[]> {
    const rows = await ledger.source.query<Record<string, string | number | null>[]>(REFERENCE);
    return rows.map((row) => ({
      day: String(row['day']),
      accountId: String(row['account_id']),
      model: String(row['model']),
      credential: row['credential'] as AccountUsageRow['credential'],
      keyId: row['key_id'] as string | null,
      keyPrefix: row['key_prefix'] as string | null,
      requests: Number(row['requests']),
      completed: Number(row['completed']),
      errors: Number(row['errors']),
      inputTokens: Number(row['prompt_tokens']),
      outputTokens: Number(row['completion_tokens']),
      tokensUnknown: Number(row['tokens_unknown']),
      tokensEstimated: Number(row['tokens_estimated']),
      cost: row['cost_micros'] === null ? undefined : Number(row['cost_micros']) / 1e6,
      withoutCost: Number(row['without_cost']),
      currency: row['currency'] as string | null,
    }));
  }

  async function expectConsistent(): Promise<void> {
    const [sums, expected] = [await ledger.reports.dailyOfAll(FROM, TO), await reference()];
    const inOrder = (rows: readonly AccountUsageRow[]) => rows.map((row) => JSON.stringify(row, KEYS)).sort();
    expect(inOrder(sums)).toEqual(inOrder(expected));
  }

  it('are what the records come to after any batches, retries and corrections, of several replicas at once', async () => {
    const others = await Promise.all([open(), open()]);
    const stores = [ledger.store, ...others.map((other) => new UsageStore(other, new EmbeddedAvailability()))];
    const rounds = fc.array(fc.tuple(batch, fc.nat(2), fc.boolean()), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(rounds, async (all) => {
        await Promise.all(
          all.map(async ([entries, writer, isRetried]) => {
            const records = entries.map(([one]) => ({ ...one, id: randomUUID() }));
            const found = records.filter((_, index) => entries[index]?.[1] === true).map(interrupted);
            const [first, second] = [stores[writer], stores[(writer + 1) % stores.length]];
            // Who found them and who owns them may write at the same moment.
            await Promise.all([
              found.length > 0 ? second?.append(found) : undefined,
              first?.append(records),
              isRetried ? second?.append([...records].reverse()) : undefined,
            ]);
            if (isRetried) await first?.append(records);
          }),
        );
        await expectConsistent();
      }),
      { numRuns: 12 },
    );
    await Promise.all(others.map((other) => other.destroy()));
  });

  it('count a batch once whose first attempt had an unknown outcome, and not at all one that failed', async () => {
    const records = Array.from({ length: 30 }, () => over());
    await ledger.store.append(records);
    await ledger.store.append(records);
    await expect(ledger.store.append([over(), over({ startedAt: NaN })])).rejects.toThrow('not a valid date');
    expect(await ledger.reports.daily('ada', FROM, TO)).toMatchObject([{ requests: 30, inputTokens: 300 }]);
    await expectConsistent();
  });

  it('are corrected with the record, and leave nothing behind', async () => {
    const record = over();
    await ledger.store.append([interrupted(record)]);
    expect(await ledger.reports.daily('ada', FROM, TO)).toMatchObject([{ requests: 1, errors: 1, currency: null }]);
    await ledger.store.append([record]);
    await ledger.store.append([interrupted(record)]);
    expect(await ledger.reports.daily('ada', FROM, TO)).toMatchObject([
      { requests: 1, completed: 1, errors: 0, inputTokens: 10, cost: 0.00005, currency: 'USD' },
    ]);
    await expectConsistent();
  });

  it('answer without the records, for the quota of a day too', async () => {
    await ledger.store.append([over(), over({ startedAt: TODAY - DAY_MS }), over({ accountId: 'bob' })]);
    const before = await ledger.reports.dailyOfAll(FROM, TO);
    await ledger.source.query('DELETE FROM usage_records');
    expect(await ledger.reports.dailyOfAll(FROM, TO)).toEqual(before);
    expect(await ledger.reports.tokensSince('ada', new Date(TODAY))).toBe(30);
    expect(await ledger.reports.tokensSince('ada', new Date(TODAY - DAY_MS))).toBe(60);
  });

  it('do not overflow', async () => {
    const most = { source: 'reported', count: Number.MAX_SAFE_INTEGER } as const;
    for (let round = 0; round < 25; round++) {
      await ledger.store.append(
        Array.from({ length: 50 }, () => over({ inputTokens: most, outputTokens: most, costMicros: 1e300 })),
      );
    }
    const [row] = await ledger.reports.daily('ada', FROM, TO);
    expect(row?.requests).toBe(1250);
    expect((row?.inputTokens ?? 0) / (1250 * Number.MAX_SAFE_INTEGER)).toBeCloseTo(1);
    expect(await ledger.reports.tokensSince('ada', FROM)).toBeGreaterThan(2e19);
  });

  it('are read in portions, in an order without gaps', async () => {
    await fillDays(1_250);
    const rows = await ledger.reports.dailyOfAll(FROM, TO);
    expect(rows).toHaveLength(2_500);
    expect(rows.filter(({ accountId }) => accountId === 'ada')).toEqual(
      (await ledger.reports.daily('ada', FROM, TO)).map((row) => ({ ...row, accountId: 'ada' })),
    );
    expect(new Set(rows.map((row) => JSON.stringify(row))).size).toBe(2_500);
    expect(rows.map(({ day }) => day)).toEqual(rows.map(({ day }) => day).sort());
  });

  it('refuse a report of too many rows', async () => {
    await fillDays(50_001, ['ada']);
    await expect(ledger.reports.daily('ada', FROM, TO)).rejects.toMatchObject({
      code: 'invalid_request',
      details: [{ field: 'from', message: 'must be later: the report would have more than 50,000 rows' }],
    });
    await expect(ledger.reports.daily('ada', new Date(TODAY), TO)).rejects.toThrow('more than 50,000 rows');
    expect(await ledger.reports.daily('ada', new Date(TODAY + DAY_MS), TO)).toEqual([]);
    let count = 0;
    for await (const page of ledger.reports.pages(FROM, TO)) count += page.length;
    expect(count).toBe(50_001);
    await ledger.source.query(`DELETE FROM usage_days WHERE key_id = 'key-50001'`);
    expect(await ledger.reports.daily('ada', FROM, TO)).toHaveLength(50_000);
  }, 60_000);

  /** So many keys of each account with one request each. A statement on a busy machine has a limited time, so each adds some. */
  async function fillDays(count: number, accounts = ['ada', 'bob']): Promise<void> {
    const ofAccounts = accounts.map((account) => `SELECT '${account}' AS account_id`).join(' UNION ');
    const keysAtOnce = 10_000;
    for (let from = 1; from <= count; from += keysAtOnce) {
      await ledger.source.query(
        `INSERT INTO usage_days
          (account_id, day, model, key_id, credential, currency, key_prefix, requests, completed, errors, tokens_unknown,
           tokens_estimated, without_cost, prompt_tokens, completion_tokens, cost_micros)
          WITH RECURSIVE numbers(i) AS (SELECT ${from} UNION ALL SELECT i + 1 FROM numbers
            WHERE i < ${Math.min(count, from + keysAtOnce - 1)})
          SELECT account_id, '2026-11-21', 'acme/fast', 'key-' || i, 'api_key', '', 'csk_', 1, 1, 0, 0, 0, 1, i, 0, 0
            FROM numbers CROSS JOIN (${ofAccounts}) AS accounts`,
      );
    }
    await ledger.source.query('ANALYZE usage_days');
  }

  // SQLite has no connections that end.
  if (engine.name === 'PostgreSQL')
    it('survive connections that end in the middle of a statement', async () => {
      const { config } = ledger.database;
      const killer = new pg.Client({ connectionString: config.type === 'postgres' ? config.url : '' });
      await killer.connect();
      const batches = Array.from({ length: 60 }, () => Array.from({ length: 20 }, () => over()));
      let failures = 0;
      const written = new AbortController();
      const killed = new Set<number>();
      const kills = (async () => {
        while (!written.signal.aborted && killed.size < MAX_KILLS) {
          const { rows } = await killer.query<{ pid: number }>(
            // Only in the schema of this test: others write to tables of the same name.
            `SELECT pid, pg_terminate_backend(pid) FROM pg_locks JOIN pg_stat_activity USING (pid)
              WHERE relation = 'usage_records'::regclass AND query LIKE 'INSERT INTO usage_records%' AND state = 'active'`,
          );
          for (const { pid } of rows) killed.add(pid);
        }
      })();
      const write = async (records: readonly UsageRecord[]): Promise<void> => {
        try {
          await ledger.store.append(records);
        } catch (error) {
          failures += 1;
          // A loop without an end would also go on, and block the process, when the test has timed out.
          if (failures > 10 * MAX_KILLS) throw error;
          await write(records);
        }
      };
      try {
        await Promise.all(
          [0, 1, 2].map(async (writer) => {
            for (const records of batches.filter((_, index) => index % 3 === writer)) await write(records);
          }),
        );
      } finally {
        written.abort();
      }
      await kills;
      // A connection may have written before it ends: what is read next must not be read through it.
      const ending = 'SELECT FROM pg_stat_activity WHERE pid = ANY($1)';
      while ((await killer.query(ending, [[...killed]])).rowCount !== 0) await sleep(10);
      await killer.end();
      expect(failures).toBeGreaterThan(0);
      expect(await ledger.reports.daily('ada', FROM, TO)).toMatchObject([{ requests: 1200 }]);
      await expectConsistent();
    });
});

/** Members that are compared, in this order. */
const KEYS = [
  ...[
    'day',
    'accountId',
    'model',
    'credential',
    'keyId',
    'keyPrefix',
    'requests',
    'completed',
    'errors',
    'inputTokens',
  ],
  ...['outputTokens', 'tokensUnknown', 'tokensEstimated', 'cost', 'withoutCost', 'currency'],
];
