import { StreamableFile } from '@nestjs/common';
import { text as textOf } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import type { Principal } from '../../../../src/auth/principal/principal.js';
import { ShedLoad } from '../../../../src/platform/common/shed-load.js';
import { ReportSemaphore } from '../../../../src/usage/queries/usage-period.js';
import type { SpendBudgets } from '../../../../src/usage/budgets/spend-budgets.js';
import { UsageReports } from '../../../../src/usage/queries/usage-reports.js';
import { UsageController } from '../../../../src/plugins/reports/usage.controller.js';
import { TODAY, NOW, ROW, FIGURES, pagesOf } from '../../usage/queries/rows.js';

const PRINCIPAL = { accountId: 'ada' } as Principal;

describe('the route of reports', () => {
  const queries: unknown[][] = [];
  const reports = {
    dailyPages: (...values: unknown[]) => {
      queries.push(values);
      return pagesOf([ROW]);
    },
  } as unknown as UsageReports;
  const budgets = { limits: () => false } as unknown as SpendBudgets;
  const semaphore = new ReportSemaphore(new ShedLoad());
  const none = undefined as never;
  const controller = new UsageController(reports, semaphore, none, none, budgets, () => NOW);

  it('answers with JSON of a known length, for the account of the request', async () => {
    const file = await controller.own(PRINCIPAL, { from: '2026-11-20', to: '2026-11-20' });
    expect(file).toBeInstanceOf(StreamableFile);
    const text = await textOf(file.getStream());
    expect(file.getHeaders()).toMatchObject({ type: 'application/json; charset=utf-8', length: text.length });
    expect(JSON.parse(text)).toMatchObject({ from: '2026-11-20', to: '2026-11-20', usage: [FIGURES] });
    expect(queries.at(-1)).toEqual(['ada', new Date('2026-11-20T00:00:00Z'), TODAY]);
  });

  it.each([
    [{ days: '7' }, 'days', 'is not a known parameter'],
    [{ from: ['2026-11-20', '2026-11-21'] }, 'from', 'appears twice'],
    [{ to: ['2026-11-20', '2026-11-21'] }, 'to', 'appears twice'],
    [{ from: ['2026-11-20'], days: '7' }, 'days', 'is not a known parameter'],
  ])('refuses the query %j', async (query, field, message) => {
    await expect(controller.own(PRINCIPAL, query)).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining(`: ${field} ${message}.`) as string,
      details: [{ field, message }],
    });
  });
});
