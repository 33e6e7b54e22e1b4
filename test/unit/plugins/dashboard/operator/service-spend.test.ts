import { beforeEach, describe, expect, it, vi } from 'vitest';
import { ServiceSpend } from '../../../../../src/plugins/dashboard/operator/service-spend.js';
import type { AccountUsageRow, UsageReports } from '../../../../../src/usage/queries/usage-reports.js';
import { utcDay } from '../../../../../src/platform/common/clock.js';
import type { Config } from '../../../../../src/platform/config/config.js';
import { Latch } from '../../../../support/latch.js';

const NOW = Date.parse('2026-11-22T12:00:00Z');

function figures(accountId: string, cost: number, currency = 'USD'): AccountUsageRow {
  const nothing = { errors: 0, inputTokens: 0, outputTokens: 0, tokensUnknown: 0, tokensEstimated: 0, withoutCost: 0 };
  const key = { model: 'acme/fast', credential: 'api_key', keyId: 'key-1', keyPrefix: 'csk_abc' } as const;
  return { accountId, day: '2026-11-22', ...key, requests: 1, completed: 1, ...nothing, cost, currency };
}

describe('the spend of all accounts', () => {
  let now: number;
  let parts: AccountUsageRow[][];
  let latch: Latch | undefined;
  let failure: Error | undefined;
  let reads: string[];
  let spend: ServiceSpend;

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    now = NOW;
    parts = [[figures('ada', 1), figures('bob', 5)], [figures('ada', 7)], [figures('eve', 900, 'JPY')]];
    latch = failure = undefined;
    reads = [];
    const reports = {
      async *pages(from: Date, to: Date) {
        reads.push(`${utcDay(from)} ${utcDay(to)}`);
        await latch?.opened;
        if (failure !== undefined) throw failure;
        yield* parts;
      },
    };
    spend = new ServiceSpend(reports as unknown as UsageReports, { currency: 'USD' } as Config, () => now);
  });

  it('is added up from all parts, the highest cost first, and read once a minute', async () => {
    const first = await spend.overview();
    expect(first?.highest.map(({ accountId }) => accountId)).toEqual(['ada', 'bob', 'eve']);
    expect(first?.last30Days.costs).toEqual(
      new Map([
        ['USD', 13],
        ['JPY', 900],
      ]),
    );
    expect(reads).toEqual(['2026-10-24 2026-11-23']);
    now += 59_999;
    expect(await spend.overview()).toBe(first);
    now += 1;
    expect(await spend.overview()).not.toBe(first);
    expect(reads).toHaveLength(2);
  });

  it('is read once for concurrent requests of pages', async () => {
    latch = new Latch();
    const asked = [spend.overview(), spend.overview()];
    latch.open();
    const [one, other] = await Promise.all(asked);
    expect(one).toBe(other);
    expect(reads).toHaveLength(1);
  });

  it('does not delay a page: there is none at first, the previous one later, and the query continues', async () => {
    latch = new Latch();
    const first = spend.overview();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await first).toBeUndefined();
    latch.open();
    const finished = await spend.overview();
    expect(finished?.at).toEqual(new Date(NOW));

    now += 60_000;
    latch = new Latch();
    const later = spend.overview();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await later).toBe(finished);
    latch.open();
    expect((await spend.overview())?.at).toEqual(new Date(now));
    expect(reads).toHaveLength(2);
  });

  it('fails with its reason, and is read again by the next page', async () => {
    failure = new Error('no database');
    await expect(spend.overview()).rejects.toThrow('no database');
    failure = undefined;
    expect(await spend.overview()).toBeDefined();
  });
});
