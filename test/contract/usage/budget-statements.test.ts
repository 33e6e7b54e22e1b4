import { beforeEach, describe, expect, it } from 'vitest';
import { EmbeddedAvailability } from '../../../src/platform/database/database-availability.js';
import { AtomicStatements, type Statement } from '../../../src/platform/database/queries/atomic-statements.js';
import {
  insertReservation,
  selectUse,
  selectUseOfKeys,
  type BudgetReservation,
  currentBudget,
  type RateOwner,
} from '../../../src/usage/budgets/budget-statements.js';
import { UsageWriters } from '../../../src/usage/store/usage-writers.js';
import { testEngines } from '../../support/database.js';
import { ledgerSuite } from './ledger-suite.js';
import { over } from './records.js';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const ADA: RateOwner = { accountId: 'ada', key: undefined };
const budgetOf = (owner: RateOwner, micros = 1_000, per: 'month' | 'day' = 'month') =>
  currentBudget({ micros, per }, owner, NOW);

describe.each(await testEngines())('what a budget counts on $name', (engine) => {
  const ledger = ledgerSuite(engine);
  let writers: UsageWriters;

  const run = async (statement: Statement) => {
    const [rows = []] = await new AtomicStatements(ledger.source).run({ table: 'accounts', id: 'ada' }, [statement]);
    return rows;
  };
  const spent = (startedAt: string, costMicros: number, members: object = {}) =>
    ledger.store.append([over({ startedAt: Date.parse(startedAt), costMicros, ...members })]);
  const reservation = async (members: Partial<BudgetReservation>, budgets = [budgetOf(ADA)]) => {
    const held = { id: 'reservation', accountId: 'ada', keyId: undefined, micros: 0, ...members };
    return (await run(insertReservation(held, budgets, 'USD', writers.id))).length === 1;
  };
  const useOf = async (owner: RateOwner, per: 'month' | 'day' = 'month') => {
    const [row] = await run(selectUse(budgetOf(owner, 1_000, per), 'USD'));
    return [Number(row?.['spent']), Number(row?.['reserved'])];
  };

  beforeEach(async () => {
    writers = new UsageWriters(ledger.source, new EmbeddedAvailability());
    await writers.beat();
    await spent('2026-11-01T00:00:00.000Z', 1);
    await spent('2026-11-21T00:00:00.000Z', 2, { keyId: 'server' });
    await spent('2026-11-21T23:59:59.999Z', 4);
    await spent('2026-11-30T23:59:59.999Z', 8);
    // Of another month, another currency and another account.
    await spent('2026-10-31T23:59:59.999Z', 100);
    await spent('2026-12-01T00:00:00.000Z', 200);
    const price = { inputPerMillion: 1, outputPerMillion: 2, currency: 'EUR' };
    await spent('2026-11-21T12:00:00.000Z', 400, { price });
    await spent('2026-11-21T12:00:00.000Z', 800, { accountId: 'bob' });
    await reservation({ id: 'h1', keyId: 'laptop', micros: 16 }, []);
    await reservation({ id: 'h2', keyId: 'server', micros: 32 }, []);
    await reservation({ id: 'h3', micros: 64 }, []);
    await reservation({ id: 'h4', accountId: 'bob', micros: 1_600 }, []);
  });

  it('is the money of its period, its currency, its account and its key', async () => {
    expect(await useOf(ADA)).toEqual([15, 112]);
    expect(await useOf(ADA, 'day')).toEqual([6, 112]);
    expect(await useOf({ accountId: 'ada', key: 'laptop' })).toEqual([13, 16]);
    expect(await useOf({ accountId: 'bob', key: undefined })).toEqual([800, 1_600]);
    const rows = await run(selectUseOfKeys(budgetOf(ADA), 'USD'));
    const ofKeys = rows.map(({ owner, spent, reserved }) => [owner ?? '', Number(spent), Number(reserved)]);
    expect(ofKeys.sort()).toEqual([
      ['', 0, 64],
      ['laptop', 13, 16],
      ['server', 2, 32],
    ]);
  });

  it('admits exactly what is left, and a reservation that is replaced does not count', async () => {
    const account = budgetOf(ADA, 127 + 10);
    expect(await reservation({ micros: 11 }, [account])).toBe(false);
    for (const micros of [10, 10, 5, 10]) expect(await reservation({ micros }, [account]), `${micros}`).toBe(true);
    expect(await reservation({ micros: 11 }, [account])).toBe(false);
    expect(await reservation({ id: 'other', micros: 1 }, [account])).toBe(false);
    expect(await useOf(ADA)).toEqual([15, 122]);
    // More than the reservation itself must be left.
    expect(await reservation({ micros: 1, needed: 11 }, [account])).toBe(false);
    expect(await reservation({ micros: 1, needed: 10 }, [account])).toBe(true);
  });

  it('must be left in each of two budgets', async () => {
    const account = budgetOf(ADA, 127 + 10);
    const key = (left: number) => budgetOf({ accountId: 'ada', key: 'laptop' }, 29 + left);
    expect(await reservation({ keyId: 'laptop', micros: 6 }, [account, key(5)])).toBe(false);
    expect(await reservation({ keyId: 'laptop', micros: 11 }, [account, key(50)])).toBe(false);
    expect(await reservation({ keyId: 'laptop', micros: 5 }, [account, key(5)])).toBe(true);
  });
});
