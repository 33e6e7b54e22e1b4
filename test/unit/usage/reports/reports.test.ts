import type { DataSource } from 'typeorm';
import { StreamableFile } from '@nestjs/common';
import { text as textOf } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import type { Principal } from '../../../../src/auth/principal/principal.js';
import { ShedLoad } from '../../../../src/common/shed-load.js';
import { pageOfDaySums, type DaySums } from '../../../../src/usage/reports/day-sums.js';
import { ReportSemaphore } from '../../../../src/usage/reports/report-semaphore.js';
import { startOfDay } from '../../../../src/common/utc-day.js';
import { usagePeriod } from '../../../../src/usage/reports/usage-period.js';
import type { SpendBudgets } from '../../../../src/usage/budgets/spend-budgets.js';
import { reportJson, wireUsage } from '../../../../src/usage/reports/report-json.js';
import { UsageReports, type AccountUsageRow, type UsageRow } from '../../../../src/usage/reports/usage-reports.js';
import { UsageController } from '../../../../src/usage/reports/usage.controller.js';
import { Latch } from '../../../support/latch.js';

const DAY_MS = 86_400_000;
const NOW = Date.parse('2026-11-21T13:00:00Z');
const [TODAY, TOMORROW] = [new Date('2026-11-21T00:00:00Z'), new Date('2026-11-22T00:00:00Z')];
const PRINCIPAL = { accountId: 'ada' } as Principal;

const SUMS: DaySums = {
  day: '2026-11-21',
  account_id: 'ada',
  model: 'acme/fast',
  key_id: 'laptop',
  credential: 'api_key',
  currency: 'USD',
  key_prefix: 'csk_1',
  requests: '5',
  completed: '3',
  errors: '1',
  tokens_unknown: '2',
  tokens_estimated: '4',
  without_cost: '4',
  prompt_tokens: 100,
  completion_tokens: 200,
  cost_micros: 2_500_000,
};
const ROW: AccountUsageRow = {
  accountId: 'ada',
  day: '2026-11-21',
  model: 'acme/fast',
  credential: 'api_key',
  keyId: 'laptop',
  keyPrefix: 'csk_1',
  requests: 5,
  completed: 3,
  errors: 1,
  inputTokens: 100,
  outputTokens: 200,
  tokensUnknown: 2,
  tokensEstimated: 4,
  cost: 2.5,
  withoutCost: 4,
  currency: 'USD',
};
const FIGURES = {
  requests: 5,
  completed: 3,
  errors: 1,
  prompt_tokens: 100,
  completion_tokens: 200,
  tokens_unknown: 2,
  cost_unknown: 4,
  cost: 2.5,
  currency: 'USD',
};

/** The error that `work` throws. */
function errorOf(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('It did not throw.');
}

async function* pagesOf(...pages: (readonly UsageRow[])[]): AsyncGenerator<readonly UsageRow[]> {
  await Promise.resolve();
  yield* pages;
}

describe('the period of a report', () => {
  const days = (asked: Parameters<typeof usagePeriod>[0]) => {
    const { from, to } = usagePeriod(asked, NOW);
    return [from.toISOString(), to.toISOString()];
  };

  it('is thirty days until the end of today', () => {
    expect(days({})).toEqual(['2026-10-23T00:00:00.000Z', '2026-11-22T00:00:00.000Z']);
  });

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

  it('does not end before it begins', () => {
    expect(errorOf(() => days({ from: '2026-11-22' }))).toMatchObject({
      code: 'invalid_request',
      details: [{ field: 'from', message: 'must not be after "to"' }],
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

describe('a report as JSON', () => {
  const jsonOf = async (...pages: (readonly UsageRow[])[]) =>
    Buffer.concat(await reportJson({ from: TODAY, to: TOMORROW }, pagesOf(...pages))).toString();

  it('has the days of its period, and the rows of all pages', async () => {
    const entry = { day: '2026-11-21', model: 'acme/fast', key: { id: 'laptop', prefix: 'csk_1' }, ...FIGURES };
    const session = { ...ROW, keyId: null, keyPrefix: null, cost: undefined, currency: null };
    expect(await jsonOf([], [ROW, session], [], [ROW])).toBe(
      JSON.stringify({
        from: '2026-11-21',
        to: '2026-11-21',
        budget: null,
        usage: [entry, { ...entry, key: null, cost: null, currency: null }, entry],
      }),
    );
  });

  it('has an empty list without rows', async () => {
    expect(await jsonOf()).toBe('{"from":"2026-11-21","to":"2026-11-21","budget":null,"usage":[]}');
    expect(await jsonOf([])).toBe('{"from":"2026-11-21","to":"2026-11-21","budget":null,"usage":[]}');
  });

  it('has an empty prefix for a key without one, and 0 where something was free', async () => {
    expect(await jsonOf([{ ...ROW, keyPrefix: null }])).toContain('"key":{"id":"laptop","prefix":""}');
    expect(wireUsage({ ...ROW, cost: 0 })).toEqual({ ...FIGURES, cost: 0 });
  });
});

describe('a page of daily sums', () => {
  it('of one account is in the order of its index', () => {
    const request = { from: '2026-11-01', before: '2026-11-22', accountId: 'ada', after: undefined, limit: 500 };
    expect(pageOfDaySums('postgres', request)).toEqual([
      'SELECT * FROM usage_days WHERE account_id = $1 AND day >= $2 AND day < $3 ' +
        'ORDER BY day, model, key_id, credential, currency LIMIT 500',
      ['ada', '2026-11-01', '2026-11-22'],
    ]);
    expect(pageOfDaySums('postgres', { ...request, after: SUMS })).toEqual([
      'SELECT * FROM usage_days WHERE account_id = $1 AND ' +
        '(day, model, key_id, credential, currency) > ($2,$3,$4,$5,$6) AND day < $7 ' +
        'ORDER BY day, model, key_id, credential, currency LIMIT 500',
      ['ada', '2026-11-21', 'acme/fast', 'laptop', 'api_key', 'USD', '2026-11-22'],
    ]);
  });

  it('of all accounts is in the order of its index, too', () => {
    const request = { from: '2026-11-01', before: '2026-11-22', accountId: undefined, after: SUMS, limit: 7 };
    expect(pageOfDaySums('sqlite', request)).toEqual([
      'SELECT * FROM usage_days WHERE (day, account_id, model, key_id, credential, currency) > (?,?,?,?,?,?) ' +
        'AND day < ? ORDER BY day, account_id, model, key_id, credential, currency LIMIT 7',
      ['2026-11-21', 'ada', 'acme/fast', 'laptop', 'api_key', 'USD', '2026-11-22'],
    ]);
  });
});

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
    const asked: string[][] = [];
    const pages = [full, full, full.slice(1)];
    const reports = reportsOn((_, parameters) => {
      asked.push(parameters);
      return Promise.resolve(pages[asked.length - 1]);
    });
    expect(await reports.daily('ada', TODAY, TOMORROW)).toHaveLength(1499);
    expect(asked).toEqual([
      ['ada', '2026-11-21', '2026-11-22'],
      ['ada', '2026-11-21', 'm499', 'laptop', 'api_key', 'USD', '2026-11-22'],
      ['ada', '2026-11-21', 'm499', 'laptop', 'api_key', 'USD', '2026-11-22'],
    ]);
  });

  it('include a last day that has begun, and select an account by its stored text', async () => {
    const asked: string[][] = [];
    const reports = reportsOn((_, parameters) => {
      asked.push(parameters);
      return Promise.resolve([]);
    });
    await reports.daily('a\0', new Date(NOW), new Date(TOMORROW.getTime() + 1));
    await reports.dailyOfAll(TODAY, TOMORROW);
    expect(asked).toEqual([
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
    const asked: string[][] = [];
    const pages = [full, [SUMS], []];
    const reports = reportsOn((_, parameters) => {
      asked.push(parameters);
      return Promise.resolve(pages[asked.length - 1]);
    });
    const since = () => reports.tokensSince('a\0', new Date(NOW));
    const ofOne = SUMS.prompt_tokens + SUMS.completion_tokens;
    expect([await since(), await since()]).toEqual([501 * ofOne, 0]);
    expect([asked[0], asked[2]]).toEqual([
      ['a\ufffd', '2026-11-21'],
      ['a\ufffd', '2026-11-21'],
    ]);
  });
});

describe('the semaphore of reports', () => {
  const held = () => {
    const shedLoad = new ShedLoad();
    const semaphore = new ReportSemaphore(shedLoad);
    const over = new Latch();
    const begun: number[] = [];
    const shed = () => new Map(shedLoad.counts).get('usage_reports');
    const hold = (accountId: string, index = 0) =>
      semaphore.run(accountId, () => {
        begun.push(index);
        return over.opened;
      });
    return { semaphore, over, begun, shed, hold };
  };
  const turn = () => new Promise(setImmediate);

  it('allows two reports of an account, and refuses a third until one has ended', async () => {
    const { semaphore, over, shed, hold } = held();
    const running = [hold('ada'), hold('ada')];
    await expect(semaphore.run('ada', () => Promise.resolve())).rejects.toMatchObject({
      code: 'concurrency_limit_exceeded',
      message: 'An account can request at most 2 reports at the same time.',
      retryAfterSeconds: 1,
    });
    expect(shed()).toBe(1);
    over.open();
    await Promise.all(running);
    await expect(semaphore.run('ada', () => Promise.resolve('third'))).resolves.toBe('third');
  });

  it('runs three reports, lets thirty wait, and refuses more', async () => {
    const { semaphore, over, begun, shed, hold } = held();
    const reports = Array.from({ length: 33 }, (_, index) => hold(`account ${index}`, index));
    await turn();
    await turn();
    expect(begun).toEqual([0, 1, 2]);
    await expect(semaphore.run('ada', () => Promise.resolve())).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/service.*too many reports.*try again/i) as string,
      retryAfterSeconds: 1,
    });
    expect(shed()).toBe(1);
    over.open();
    await Promise.all(reports);
    expect(begun).toEqual(reports.map((_, index) => index));
  });

  it('runs other requests before a report that has waited, as a report may block the process', async () => {
    const { semaphore, over, begun, hold } = held();
    const reports = Array.from({ length: 4 }, (_, index) => hold(`account ${index}`, index));
    await turn();
    await turn();
    over.open();
    setImmediate(() => begun.push(99));
    await Promise.all(reports);
    expect(begun).toEqual([0, 1, 2, 99, 3]);
    await expect(semaphore.run('ada', () => Promise.reject(new Error('no database')))).rejects.toThrow('no database');
  });
});

describe('the route of reports', () => {
  const asked: unknown[][] = [];
  const reports = {
    dailyPages: (...values: unknown[]) => {
      asked.push(values);
      return pagesOf([ROW]);
    },
  } as unknown as UsageReports;
  const budgets = { limits: () => false } as unknown as SpendBudgets;
  const controller = new UsageController(reports, new ReportSemaphore(new ShedLoad()), budgets, () => NOW);

  it('answers with JSON of a known length, for the account of the request', async () => {
    const file = await controller.own(PRINCIPAL, { from: '2026-11-20', to: '2026-11-20' });
    expect(file).toBeInstanceOf(StreamableFile);
    const text = await textOf(file.getStream());
    expect(file.getHeaders()).toMatchObject({ type: 'application/json; charset=utf-8', length: text.length });
    expect(JSON.parse(text)).toMatchObject({ from: '2026-11-20', to: '2026-11-20', usage: [FIGURES] });
    expect(asked.at(-1)).toEqual(['ada', new Date('2026-11-20T00:00:00Z'), TODAY]);
  });

  it('returns the last thirty days by default', async () => {
    await controller.own(PRINCIPAL, {});
    expect(asked.at(-1)).toEqual(['ada', new Date('2026-10-23T00:00:00Z'), TOMORROW]);
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
