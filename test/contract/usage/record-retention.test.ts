import { describe, expect, it, vi } from 'vitest';
import type { Config } from '../../../src/platform/config/config.js';
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
  const jobsOf = (config: Partial<Config>) => {
    const jobs = new HourlyJobs();
    const add = vi.spyOn(jobs, 'add');
    new RecordRetention(ledger.source, config, () => TODAY, jobs);
    return add.mock.calls.map(([, job]) => job);
  };
  /** Deletes a portion. Returns whether there may be more. */
  const portion = async () => jobsOf({ usageRetentionDays: 30 })[0]?.(new AbortController().signal);

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
    expect([await portion(), (await storedRecords(ledger.source)).length]).toEqual([true, 606 - PORTION]);
    expect(await portion()).toBe(false);
    expect(await storedRecords(ledger.source)).toHaveLength(5);
    expect(await report()).toEqual(before);
  });

  it('are deleted once by replicas that delete at the same time', async () => {
    await append(40, 900);
    expect(await Promise.all([portion(), portion()])).toContain(true);
    while (await portion());
    expect(await storedRecords(ledger.source)).toEqual([]);
  });

  it('stay without a number of days', () => {
    expect(jobsOf({})).toEqual([]);
  });
});
