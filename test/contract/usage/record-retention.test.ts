import { describe, expect, it, vi } from 'vitest';
import { HourlyJobs } from '../../../src/platform/common/timers/periodic-task.js';
import { timeOrderedId } from '../../../src/platform/common/time-ordered-id.js';
import { RecordRetention } from '../../../src/usage/ledger/record-retention.js';
import { UsageReports } from '../../../src/usage/queries/usage-reports.js';
import { testEngines } from '../../support/database.js';
import { ledgerSuite } from './ledger-suite.js';
import { over, storedRecords, TODAY } from './records.js';

const DAY_MS = 86_400_000;
const PORTION = 500;

describe.each(await testEngines())('old records on $name', (engine) => {
  const ledger = ledgerSuite(engine);
  const retention = () => new RecordRetention(ledger.store, { usageRetentionDays: 30 }, () => TODAY, new HourlyJobs());

  async function append(daysAgo: number, count: number): Promise<void> {
    const startedAt = TODAY - daysAgo * DAY_MS;
    for (let done = 0; done < count; done += 100) {
      const records = Array.from({ length: Math.min(100, count - done) }, () =>
        over({ id: timeOrderedId(startedAt), startedAt }),
      );
      await ledger.store.append(records);
    }
  }

  it('are deleted in portions, and the reports stay', async () => {
    await append(40, 600);
    await append(30.01, 1);
    await append(29.99, 2);
    await append(0, 3);
    const report = () =>
      new UsageReports(ledger.source).daily('ada', new Date(TODAY - 50 * DAY_MS), new Date(TODAY + DAY_MS));
    const before = await report();
    expect(await retention().deletePortion(30)).toBe(PORTION);
    expect(await retention().deletePortion(30)).toBe(101);
    expect(await retention().deletePortion(30)).toBe(0);
    expect(await storedRecords(ledger.source)).toHaveLength(5);
    expect(await report()).toEqual(before);
  });

  it('are deleted once by replicas that delete at the same time', async () => {
    await append(40, 900);
    const counts = await Promise.all([retention().deletePortion(30), retention().deletePortion(30)]);
    expect(counts[0] + counts[1]).toBeLessThanOrEqual(900);
    while ((await retention().deletePortion(30)) > 0);
    expect(await storedRecords(ledger.source)).toEqual([]);
  });

  it('are an hourly job, if there is a number of days', async () => {
    await append(40, 600);
    const jobs = new HourlyJobs();
    const add = vi.spyOn(jobs, 'add');
    new RecordRetention(ledger.store, {}, () => TODAY, jobs);
    expect(add).not.toHaveBeenCalled();
    new RecordRetention(ledger.store, { usageRetentionDays: 30 }, () => TODAY, jobs);
    const job = add.mock.calls[0]?.[1];
    const { signal } = new AbortController();
    expect([await job?.(signal), await job?.(signal)]).toEqual([true, false]);
    expect(await storedRecords(ledger.source)).toEqual([]);
  });
});
