import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../src/common/service-error.js';
import { UsageTotals } from '../../src/dashboard/usage/usage-totals.js';
import { TooManyRows, type UsageReports } from '../../src/usage/reports/usage-reports.js';

const FROM = new Date('2026-11-01T00:00:00Z');
const TO = new Date('2026-11-05T00:00:00Z');

describe('the totals of a period', () => {
  async function read(answer: (days: number) => Promise<[]>): Promise<number[]> {
    const asked: number[] = [];
    const reports = {
      daily: (_: string, from: Date, to: Date) => {
        const days = (to.getTime() - from.getTime()) / 86_400_000;
        asked.push(days);
        return answer(days);
      },
    } as unknown as UsageReports;
    await new UsageTotals().read(reports, 'account', FROM, TO).catch((error: unknown) => {
      expect(error).toBeInstanceOf(ServiceError);
    });
    return asked;
  }

  it('are read in halves if the period has too many rows', async () => {
    const asked = await read((days) => (days > 2 ? Promise.reject(new TooManyRows()) : Promise.resolve([])));
    expect(asked).toEqual([4, 2, 2]);
  });

  it('are not read again after another error', async () => {
    const asked = await read(() => Promise.reject(new ServiceError('invalid_request', 'The account is not valid.')));
    expect(asked).toEqual([4]);
  });
});
