import { describe, expect, it } from 'vitest';
import { startOfDay } from '../../../../src/platform/common/clock.js';
import { ShedLoad } from '../../../../src/platform/common/shed-load.js';
import { usagePeriod, ReportSemaphore } from '../../../../src/usage/queries/usage-period.js';
import { Latch } from '../../../support/latch.js';
import { TODAY, NOW } from './rows.js';

const DAY_MS = 86_400_000;

/** The error that `work` throws. */
function errorOf(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('It did not throw.');
}

describe('the period of a report', () => {
  const days = (requested: Parameters<typeof usagePeriod>[0]) => {
    const { from, to } = usagePeriod(requested, NOW);
    return [from.toISOString(), to.toISOString()];
  };

  it('is thirty days until the end of a given day, or from a given day until today', () => {
    expect(days({ to: '2026-03-01' })).toEqual(['2026-01-31T00:00:00.000Z', '2026-03-02T00:00:00.000Z']);
    expect(days({ from: '2026-11-21' })).toEqual(['2026-11-21T00:00:00.000Z', '2026-11-22T00:00:00.000Z']);
  });

  it('has up to 400 days', () => {
    expect(days({ from: '2025-01-01', to: '2026-02-04' })[0]).toBe('2025-01-01T00:00:00.000Z');
    expect(errorOf(() => days({ from: '2025-01-01', to: '2026-02-05' }))).toMatchObject({
      code: 'invalid_request',
      message: expect.stringMatching(/period.*: from must not be more than 400 days before "to"\.$/) as string,
      details: [{ field: 'from', message: 'must not be more than 400 days before "to"' }],
    });
  });

  it.each([
    '',
    '2026-02-30',
    '2026-13-01',
    '2026-1-1',
    ' 2026-01-01',
    '2026-01-01T00:00',
    '12026-01-01',
    '+02026-01-01',
  ])('has no day %j', (day) => {
    for (const field of ['from', 'to']) {
      expect(errorOf(() => days({ [field]: day }))).toMatchObject({
        code: 'invalid_request',
        details: [{ field, message: 'must be a day in the form YYYY-MM-DD' }],
      });
    }
  });

  it('begins a day at midnight in UTC', () => {
    expect([startOfDay(NOW), startOfDay(TODAY.getTime()), startOfDay(TODAY.getTime() - 1)]).toEqual([
      TODAY.getTime(),
      TODAY.getTime(),
      TODAY.getTime() - DAY_MS,
    ]);
  });
});

describe('the semaphore of reports', () => {
  const held = () => {
    const shedLoad = new ShedLoad();
    const semaphore = new ReportSemaphore(shedLoad);
    const over = new Latch();
    const started: number[] = [];
    const shed = () => new Map(shedLoad.counts).get('usage_reports');
    const hold = (accountId: string, index = 0) =>
      semaphore.run(accountId, () => {
        started.push(index);
        return over.opened;
      });
    return { semaphore, over, started, shed, hold };
  };
  const turn = () => new Promise(setImmediate);

  it('runs three reports, lets thirty wait, and refuses more', async () => {
    const { semaphore, over, started, shed, hold } = held();
    const reports = Array.from({ length: 33 }, (_, index) => hold(`account ${index}`, index));
    await turn();
    await turn();
    expect(started).toEqual([0, 1, 2]);
    await expect(semaphore.run('ada', () => Promise.resolve())).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/service.*too many reports.*try again/i) as string,
      retryAfterSeconds: 1,
    });
    expect(shed()).toBe(1);
    over.open();
    await Promise.all(reports);
    expect(started).toEqual(reports.map((_, index) => index));
  });

  it('runs other requests before a report that has waited, as a report may block the process', async () => {
    const { semaphore, over, started, hold } = held();
    const reports = Array.from({ length: 4 }, (_, index) => hold(`account ${index}`, index));
    await turn();
    await turn();
    over.open();
    setImmediate(() => started.push(99));
    await Promise.all(reports);
    expect(started).toEqual([0, 1, 2, 99, 3]);
    await expect(semaphore.run('ada', () => Promise.reject(new Error('no database')))).rejects.toThrow('no database');
  });
});
