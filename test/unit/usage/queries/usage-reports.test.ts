import type { DataSource } from 'typeorm';
import { describe, expect, it } from 'vitest';
import { UsageReports } from '../../../../src/usage/queries/usage-reports.js';
import { TODAY, TOMORROW, NOW, ROW, SUMS } from './rows.js';

describe('reports', () => {
  type Query = (statement: string, parameters: string[]) => Promise<unknown>;
  const reportsOn = (query: Query) => new UsageReports({ options: { type: 'sqlite' }, query } as unknown as DataSource);
  const full = Array.from({ length: 500 }, (_, index) => ({ ...SUMS, model: `m${index}` }));

  it('give rows with numbers, and nothing for what is empty', async () => {
    const empty = { key_id: '', key_prefix: '', currency: '', without_cost: '5', credential: 'session' };
    const rows = await reportsOn(() => Promise.resolve([SUMS, { ...SUMS, ...empty }])).dailyOfAll(TODAY, TOMORROW);
    expect(rows).toEqual([
      ROW,
      {
        ...ROW,
        credential: 'session',
        keyId: null,
        keyPrefix: null,
        currency: null,
        withoutCost: 5,
        cost: undefined,
      },
    ]);
  });

  it('read a page after each full page, from its last row on', async () => {
    const queries: string[][] = [];
    const pages = [full, full, full.slice(1)];
    const reports = reportsOn((_, parameters) => {
      queries.push(parameters);
      return Promise.resolve(pages[queries.length - 1]);
    });
    expect(await reports.daily('ada', TODAY, TOMORROW)).toHaveLength(1499);
    expect(queries).toEqual([
      ['ada', '2026-11-21', '2026-11-22'],
      ['ada', '2026-11-21', 'm499', 'laptop', 'api_key', 'USD', '2026-11-22'],
      ['ada', '2026-11-21', 'm499', 'laptop', 'api_key', 'USD', '2026-11-22'],
    ]);
  });

  it('include a last day that has begun, and select an account by its stored text', async () => {
    const queries: string[][] = [];
    const reports = reportsOn((_, parameters) => {
      queries.push(parameters);
      return Promise.resolve([]);
    });
    await reports.daily('a\0', new Date(NOW), new Date(TOMORROW.getTime() + 1));
    await reports.dailyOfAll(TODAY, TOMORROW);
    expect(queries).toEqual([
      ['a\ufffd', '2026-11-21', '2026-11-23'],
      ['2026-11-21', '2026-11-22'],
    ]);
  });

  it.each([
    [50_000, true],
    [50_001, false],
  ])('of %i rows are made: %s', async (count, isMade) => {
    let left = count;
    const reports = reportsOn(() => {
      const page = full.slice(0, Math.min(500, left));
      left -= page.length;
      return Promise.resolve(page);
    });
    const made = reports.daily('ada', TODAY, TOMORROW);
    if (isMade) await expect(made).resolves.toHaveLength(count);
    else {
      await expect(made).rejects.toMatchObject({
        code: 'invalid_request',
        details: [{ field: 'from', message: 'must be later: the report would have more than 50,000 rows' }],
      });
    }
  });

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

  it('know the tokens of an account since the start of a day, from any number of pages', async () => {
    const queries: string[][] = [];
    const pages = [full, [SUMS], []];
    const reports = reportsOn((_, parameters) => {
      queries.push(parameters);
      return Promise.resolve(pages[queries.length - 1]);
    });
    const since = () => reports.tokensSince('a\0', new Date(NOW));
    const ofOne = SUMS.prompt_tokens + SUMS.completion_tokens;
    expect([await since(), await since()]).toEqual([501 * ofOne, 0]);
    expect([queries[0], queries[2]]).toEqual([
      ['a\ufffd', '2026-11-21'],
      ['a\ufffd', '2026-11-21'],
    ]);
  });
});
