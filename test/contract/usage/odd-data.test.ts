import { describe, expect, it } from 'vitest';
import type { StartedStream, UsageRecord } from '../../../src/usage/record/usage-record.js';
import { RecentStreams } from '../../../src/usage/queries/recent-streams.js';
import { UnstorableData } from '../../../src/usage/store/ledger-text.js';
import { testEngines } from '../../support/database.js';
import { ledgerSuite } from './ledger-suite.js';
import { started, over, storedRecords, TODAY } from './records.js';

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
  const ledger = ledgerSuite(engine);

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
    await ledger.store.append(records);
    for (const { accountId } of records) {
      expect(await ledger.reports.daily(accountId, FROM, TO)).toMatchObject([{ requests: 1 }]);
      expect(await ledger.reports.tokensSince(accountId, FROM)).toBe(30);
    }
  });

  it('lists streams before a cursor with any text', async () => {
    await ledger.store.append([over()]);
    const before = TO.toISOString();
    for (const text of ODD_TEXTS) {
      const filter = { from: FROM, to: TO, accountId: 'ada', before: { time: before, id: text } };
      const { rows } = await new RecentStreams(ledger.source).list(filter, 1);
      expect(rows).toHaveLength(1);
    }
  });

  it('keeps texts apart that differ only where they are too long', async () => {
    const long = 'x'.repeat(300);
    await ledger.store.append([over({ accountId: `${long}1` }), over({ accountId: `${long}2` })]);
    expect(await ledger.reports.daily(`${long}1`, FROM, TO)).toMatchObject([{ requests: 1 }]);
  });

  it('keeps counts of 64 bits', async () => {
    await ledger.store.append([over({ inputTokens: huge, outputTokens: huge })]);
    expect(await storedRecords(ledger.source)).toMatchObject([{ prompt_tokens: 3_000_000_000 }]);
    expect(await ledger.reports.tokensSince('ada', FROM)).toBe(6_000_000_000);
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
    await expect(ledger.store.append(records)).rejects.toThrow(UnstorableData);
    expect(await storedRecords(ledger.source)).toEqual([]);
  });

  it('says the same of a record that the database refuses, and of no outage', async () => {
    await ledger.source.query('CREATE UNIQUE INDEX one_model_only ON usage_records (model)');
    await ledger.store.append([over()]);
    await expect(ledger.store.append([over()])).rejects.toThrow(UnstorableData);
    await ledger.source.query('ALTER TABLE usage_records RENAME TO elsewhere');
    await expect(ledger.store.append([over()])).rejects.not.toThrow(UnstorableData);
  });

  it('stores intents with any text, and refuses invalid JSON', async () => {
    const streams = ODD_TEXTS.map((text) => started({ accountId: text, keyId: text, model: text }));
    await ledger.store.open({ id: 'a', streams });
    expect(await ledger.store.abandoned()).toMatchObject([{ id: 'a', streams }]);
    const odd = { ...started(), accountId: 7n } as unknown as StartedStream;
    await expect(ledger.store.open({ id: 'b', streams: [odd] })).rejects.toThrow(UnstorableData);
  });

  it('stores a dead letter once, with any text', async () => {
    for (const text of ODD_TEXTS) {
      const letter = { id: `id ${text}`, requestId: text, reason: text, record: JSON.stringify(text) };
      await ledger.store.deadLetter(letter);
      await ledger.store.deadLetter(letter);
    }
    expect(await ledger.source.query<unknown[]>('SELECT * FROM usage_dead_letters')).toHaveLength(ODD_TEXTS.length);
  });
});
