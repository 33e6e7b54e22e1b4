import { beforeAll, describe, expect, it } from 'vitest';
import { EmbeddedAvailability } from '../../../src/platform/database/database-availability.js';
import { AccountSums, type AccountFigures, type Days } from '../../../src/usage/queries/account-sums.js';
import { UsageStore } from '../../../src/usage/store/usage-store.js';
import { testEngines } from '../../support/database.js';
import { ledgerSuite } from './ledger-suite.js';
import { over, TODAY } from './records.js';

const DAY_MS = 86_400_000;
const inUsd = { inputPerMillion: 1, outputPerMillion: 2, currency: 'USD' };
const inEur = { ...inUsd, currency: 'EUR' };
const LAST_TWO: Days = { from: '2026-11-20', to: '2026-11-21' };

describe.each(await testEngines())('the sums by account on $name', (engine) => {
  const ledger = ledgerSuite(engine, 'once');
  let sums: AccountSums;

  beforeAll(async () => {
    sums = new AccountSums(ledger.source);
    const at = (daysAgo: number) => ({ startedAt: TODAY - daysAgo * DAY_MS + 5 });
    const store = new UsageStore(ledger.source, new EmbeddedAvailability());
    await store.append([
      over({ accountId: 'ada', ...at(0), price: inUsd, costMicros: 1_000_000 }),
      over({ accountId: 'ada', ...at(1), price: inUsd, costMicros: 500_000, model: 'acme/slow' }),
      over({ accountId: 'ada', ...at(1), price: inEur, costMicros: 250_000 }),
      over({ accountId: 'ada', ...at(2), price: inUsd, costMicros: 7_000_000 }),
      over({ accountId: 'bob', ...at(0), price: undefined, costMicros: undefined, outcome: 'timed_out' }),
    ]);
    // More rows than one statement adds up.
    const many = Array.from({ length: 2_500 }, (_, index) =>
      over({ accountId: `many-${index % 700}`, ...at(1), keyId: `key-${index}`, price: inUsd, costMicros: 1 }),
    );
    for (let start = 0; start < many.length; start += 500) await store.append(many.slice(start, start + 500));
  });

  const sumsOf = async (accountIds: readonly string[], days: Days) => {
    const all: AccountFigures[] = [];
    for await (const part of sums.of(accountIds, days)) all.push(...part);
    return all
      .map(({ accountId, day, requests, errors, cost, currency }) => [accountId, day, requests, errors, cost, currency])
      .sort((one, other) => one.join().localeCompare(other.join()));
  };

  it('let other work of the process run between two parts', async () => {
    let turns = 0;
    let isOver = false;
    const turn = (): void => {
      turns += 1;
      if (!isOver) setImmediate(turn);
    };
    setImmediate(turn);
    const turnOfParts: number[] = [];
    for await (const part of sums.ofAll(LAST_TWO)) {
      expect(part.length).toBeGreaterThan(0);
      turnOfParts.push(turns);
    }
    isOver = true;
    expect(turnOfParts.length).toBeGreaterThan(1);
    expect(new Set(turnOfParts).size).toBe(turnOfParts.length);
  });

  it('are those of the named accounts, by day and currency', async () => {
    expect(await sumsOf(['ada', 'bob', 'nobody'], LAST_TWO)).toEqual([
      ['ada', '2026-11-20', 1, 0, 0.25, 'EUR'],
      ['ada', '2026-11-20', 1, 0, 0.5, 'USD'],
      ['ada', '2026-11-21', 1, 0, 1, 'USD'],
      ['bob', '2026-11-21', 1, 1, undefined, null],
    ]);
    expect(await sumsOf(['ada'], { from: '2026-11-21', to: '2026-11-21' })).toEqual([
      ['ada', '2026-11-21', 1, 0, 1, 'USD'],
    ]);
    expect(await sumsOf([], LAST_TWO)).toEqual([]);
  });

  it('of an account with many keys come in parts, each row once', async () => {
    const store = new UsageStore(ledger.source, new EmbeddedAvailability());
    const many = Array.from({ length: 2_500 }, (_, index) =>
      over({ accountId: 'eve', startedAt: TODAY + 5, keyId: `key-${index}` }),
    );
    for (let start = 0; start < many.length; start += 500) await store.append(many.slice(start, start + 500));
    const parts = await sumsOf(['eve'], LAST_TWO);
    expect(parts).toHaveLength(3);
    expect(parts.reduce((sum, [, , requests]) => sum + Number(requests), 0)).toBe(2_500);
    await ledger.source.query(`DELETE FROM usage_days WHERE account_id = 'eve'`);
  });

  it('of all accounts come in parts, each row once', async () => {
    const requests = new Map<string, number>();
    let parts = 0;
    for await (const part of sums.ofAll(LAST_TWO)) {
      parts += 1;
      for (const figures of part) {
        requests.set(figures.accountId, (requests.get(figures.accountId) ?? 0) + figures.requests);
      }
    }
    expect(parts).toBeGreaterThan(2);
    expect(requests.size).toBe(702);
    expect([...requests.values()].reduce((sum, count) => sum + count)).toBe(2_504);
    expect([requests.get('ada'), requests.get('bob'), requests.get('many-0')]).toEqual([3, 1, 4]);
  });

  it('of all accounts without any usage are one empty part', async () => {
    const parts: unknown[] = [];
    for await (const part of sums.ofAll({ from: '2020-01-01', to: '2020-01-02' })) parts.push(part);
    expect(parts).toEqual([[]]);
  });
});
