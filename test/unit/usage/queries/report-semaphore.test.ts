import { describe, expect, it } from 'vitest';
import { ShedLoad } from '../../../../src/platform/common/shed-load.js';
import { ReportSemaphore } from '../../../../src/usage/queries/usage-period.js';
import { Latch } from '../../../support/latch.js';

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
