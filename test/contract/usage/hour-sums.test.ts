import { beforeAll, describe, expect, it } from 'vitest';
import { EmbeddedAvailability } from '../../../src/platform/database/database-availability.js';
import { HOUR_MS } from '../../../src/platform/common/clock.js';
import { HourSums } from '../../../src/usage/queries/hour-sums.js';
import { UsageReports, type UsageRow } from '../../../src/usage/queries/usage-reports.js';
import { UsageStore } from '../../../src/usage/store/usage-store.js';
import { testEngines } from '../../support/database.js';
import { ledgerSuite } from './ledger-suite.js';
import { over, TODAY } from './records.js';

const price = { inputPerMillion: 1, outputPerMillion: 2, currency: 'USD' };

describe.each(await testEngines())('the sums by hour on $name', (engine) => {
  const ledger = ledgerSuite(engine, 'once');

  beforeAll(async () => {
    await new UsageStore(ledger.source, new EmbeddedAvailability()).append([
      over({ startedAt: TODAY + 1, price, costMicros: 1_000_000 }),
      over({ startedAt: TODAY + HOUR_MS - 1, price, costMicros: 500_000 }),
      over({ startedAt: TODAY + HOUR_MS, price, costMicros: 250_000, credential: 'session', keyId: undefined }),
      over({ startedAt: TODAY + HOUR_MS, price: undefined, costMicros: undefined, outcome: 'interrupted' }),
      over({ startedAt: TODAY + HOUR_MS, accountId: 'bob', price, costMicros: 7_000_000 }),
    ]);
  });

  const rowsOf = async (pages: AsyncIterable<readonly UsageRow[]>) => {
    const all: UsageRow[] = [];
    for await (const rows of pages) all.push(...rows);
    return all;
  };

  it('are those of the hour of each start, and together those of the day', async () => {
    const hours = [0, 1, 2].map((hour) => new Date(TODAY + hour * HOUR_MS).toISOString());
    const rows = await rowsOf(new HourSums(ledger.source).pages(hours, 'ada'));
    expect(rows.map(({ day, credential, requests, cost }) => [day, credential, requests, cost])).toEqual(
      expect.arrayContaining([
        [hours[0], 'api_key', 2, 1.5],
        [hours[1], 'session', 1, 0.25],
        [hours[1], 'api_key', 1, undefined],
      ]),
    );
    expect(rows).toHaveLength(3);
    const days = await rowsOf(new UsageReports(ledger.source).pages(new Date(TODAY), undefined, 'ada'));
    for (const name of ['requests', 'completed', 'errors', 'inputTokens', 'outputTokens', 'withoutCost'] as const) {
      const sum = (of: readonly UsageRow[]) => of.reduce((total, row) => total + row[name], 0);
      expect([name, sum(rows)]).toEqual([name, sum(days)]);
    }
  });
});
