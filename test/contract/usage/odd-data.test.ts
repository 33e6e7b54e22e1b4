import { DataSource } from 'typeorm';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EmbeddedPresence } from '../../../src/database/database-presence.js';
import { dataSourceOptions, openDataSource } from '../../../src/database/open-data-source.js';
import type { BegunStream, UsageRecord } from '../../../src/usage/record/usage-record.js';
import { RecentStreams } from '../../../src/usage/reports/recent-streams.js';
import { UsageReports } from '../../../src/usage/reports/usage-reports.js';
import { DatabaseUsageStore } from '../../../src/usage/store/database-usage-store.js';
import { UnstorableData } from '../../../src/usage/store/unstorable-data.js';
import { testEngines, type TestDatabase } from '../../support/database.js';
import { begun, over, storedRecords, TODAY } from './records.js';

const [FROM, TO] = [new Date(TODAY), new Date(TODAY + 86_400_000)];
const ODD_TEXTS = [
  '',
  'a\0b',
  '\ud800',
  'x\udc00',
  '\u202e',
  'x'.repeat(100_000),
  '😀'.repeat(200),
  "'; DROP TABLE x; --",
];
const huge = { source: 'reported', count: 3_000_000_000 } as const;

describe.each(await testEngines())('the usage store on $name', (engine) => {
  let database: TestDatabase;
  let source: DataSource;
  let store: DatabaseUsageStore;
  let reports: UsageReports;

  beforeEach(async () => {
    database = await engine.create();
    source = await openDataSource(dataSourceOptions(database.config));
    store = new DatabaseUsageStore(source, new EmbeddedPresence());
    reports = new UsageReports(source);
  });
  afterEach(async () => {
    await source.destroy();
    await database.drop();
  });

  it('keeps texts of any kind, and finds the account again by them', async () => {
    const records = ODD_TEXTS.map((text) =>
      over({
        requestId: text,
        accountId: `account ${text}`,
        keyId: text,
        keyPrefix: text,
        model: text,
        upstream: text,
        finishReason: text,
      }),
    );
    await store.append(records);
    for (const { accountId } of records) {
      expect(await reports.daily(accountId, FROM, TO)).toMatchObject([{ requests: 1 }]);
      expect(await reports.tokensSince(accountId, FROM)).toBe(30);
    }
  });

  it('lists streams before a cursor with any text', async () => {
    await store.append([over()]);
    const before = TO.toISOString();
    for (const text of ODD_TEXTS) {
      const filter = { from: FROM, to: TO, before: { time: before, id: text } };
      const { streams } = await new RecentStreams(source).list('ada', filter, 1);
      expect(streams).toHaveLength(1);
    }
  });

  it('keeps texts apart that differ only where they are too long', async () => {
    const long = 'x'.repeat(300);
    await store.append([over({ accountId: `${long}1` }), over({ accountId: `${long}2` })]);
    expect(await reports.daily(`${long}1`, FROM, TO)).toMatchObject([{ requests: 1 }]);
  });

  it('keeps counts of 64 bits', async () => {
    await store.append([over({ inputTokens: huge, outputTokens: huge })]);
    expect(await storedRecords(source)).toMatchObject([{ prompt_tokens: 3_000_000_000 }]);
    expect(await reports.tokensSince('ada', FROM)).toBe(6_000_000_000);
  });

  it.each<[string, Partial<Record<keyof UsageRecord, unknown>>]>([
    ['a beginning that is no date', { startedAt: NaN }],
    ['a beginning that is nothing', { startedAt: null }],
    ['a beginning in another age', { startedAt: 1e15 }],
    ['an end that is no date', { endedAt: Infinity }],
    ['a negative count', { inputTokens: { source: 'reported', count: -5 } }],
    ['half a token', { outputTokens: { source: 'reported', count: 1.5 } }],
    ['a count that is none', { outputTokens: { source: 'reported', count: '12' } }],
    ['a count above 2^53', { inputTokens: { source: 'reported', count: 2 ** 63 } }],
    ['a cost that is not a number', { costMicros: NaN }],
    ['an infinite cost', { costMicros: Infinity }],
    ['an infinite price', { price: { inputPerMillion: Infinity, outputPerMillion: 1, currency: 'USD' } }],
    ['no tokens', { inputTokens: undefined }],
    ['no attempts', { attempts: undefined }],
    ['a number as its account', { accountId: 7 }],
    ['no account', { accountId: undefined }],
  ])('says of a record with %s that it can never be kept', async (_, parts) => {
    const records = [over(), { ...over(), ...parts } as unknown as UsageRecord];
    await expect(store.append(records)).rejects.toThrow(UnstorableData);
    expect(await storedRecords(source)).toEqual([]);
  });

  it('says the same of a record that the database refuses, and of no outage', async () => {
    await source.query('CREATE UNIQUE INDEX one_model_only ON usage_records (model)');
    await store.append([over()]);
    await expect(store.append([over()])).rejects.toThrow(UnstorableData);
    await source.query('ALTER TABLE usage_records RENAME TO elsewhere');
    await expect(store.append([over()])).rejects.not.toThrow(UnstorableData);
  });

  it('stores intents with any text, and refuses invalid JSON', async () => {
    const streams = ODD_TEXTS.map((text) => begun({ accountId: text, keyId: text, model: text }));
    await store.open({ id: 'a', streams });
    expect(await store.abandoned()).toMatchObject([{ id: 'a', streams }]);
    const odd = { ...begun(), accountId: 7n } as unknown as BegunStream;
    await expect(store.open({ id: 'b', streams: [odd] })).rejects.toThrow(UnstorableData);
  });

  it('stores a dead letter once, with any text', async () => {
    for (const text of ODD_TEXTS) {
      const aside = { id: `id ${text}`, requestId: text, reason: text, record: JSON.stringify(text) };
      await store.deadLetter(aside);
      await store.deadLetter(aside);
    }
    expect(await source.query<unknown[]>('SELECT * FROM usage_set_aside')).toHaveLength(ODD_TEXTS.length);
  });
});
