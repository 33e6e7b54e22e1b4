import type { DataSource } from 'typeorm';
import { describe, expect, it } from 'vitest';
import { UsageReports } from '../../../../src/usage/queries/usage-reports.js';
import { TODAY, TOMORROW } from './rows.js';

describe('reports', () => {
  type Query = (statement: string, parameters: string[]) => Promise<unknown>;
  const reportsOn = (query: Query) => new UsageReports({ options: { type: 'sqlite' }, query } as unknown as DataSource);
  const full = Array.from({ length: 500 }, () => ({ requests: '1' }));

  it('let other requests run before each page, one page at a time', async () => {
    const turns: string[] = [];
    let isOver = false;
    const turn = () => {
      turns.push('turn');
      if (!isOver) setImmediate(turn);
    };
    setImmediate(turn);
    const pages: Record<string, number> = {};
    const reports = reportsOn((_, [accountId = '']) => {
      turns.push(accountId);
      pages[accountId] = (pages[accountId] ?? 0) + 1;
      return Promise.resolve(pages[accountId] < 3 ? full : []);
    });
    await Promise.all(['ada', 'bob'].map((accountId) => reports.daily(accountId, TODAY, TOMORROW)));
    isOver = true;
    const queries = turns.flatMap((each, at) => (each === 'turn' ? [] : [at]));
    expect(queries).toHaveLength(6);
    for (const at of queries.slice(1)) expect(turns[at - 1]).toBe('turn');
  });

  it('of a database that fails are unavailable', async () => {
    const reports = reportsOn(() => Promise.reject(new Error('The connection was cut.')));
    await expect(reports.daily('ada', TODAY, TOMORROW)).rejects.toMatchObject({ code: 'unavailable' });
    await expect(reports.tokensSince('ada', TODAY)).rejects.toMatchObject({ code: 'unavailable' });
  });
});
