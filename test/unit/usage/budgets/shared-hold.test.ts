import { describe, expect, it } from 'vitest';
import { SharedHold } from '../../../../src/usage/budgets/shared-hold.js';

/** A budget as the database keeps it: the ledger, and the row of the hold. */
class Budget {
  spent = 0;
  row = 0;
  /** The writes that wait for {@link finish}. */
  private readonly waiting: (() => void)[] = [];

  constructor(
    readonly amount: number,
    private readonly isSlow = false,
  ) {}

  readonly write = async (micros: number, needed?: number): Promise<boolean> => {
    if (this.isSlow) await new Promise<void>((resolve) => this.waiting.push(resolve));
    if (needed !== undefined && this.spent + needed > this.amount) return false;
    this.row = micros;
    return true;
  };

  finish(): void {
    this.waiting.shift()?.();
  }
}

describe('a shared hold', () => {
  it('gives streams no money before it has grown, and only what the row covers', async () => {
    const budget = new Budget(1_000);
    const hold = new SharedHold(budget.write);
    expect(hold.take(10)).toBe(false);
    expect(await hold.grow(30, 16)).toBe(true);
    expect(budget.row).toBe(30);
    expect([hold.take(10), hold.take(10), hold.take(10), hold.take(1)]).toEqual([true, true, true, false]);
  });

  it('does not grow unless the budget has many times as much left', async () => {
    const budget = new Budget(100);
    const hold = new SharedHold(budget.write);
    expect(await hold.grow(7, 16)).toBe(false);
    expect([hold.take(1), budget.row]).toEqual([false, 0]);
    expect(await hold.grow(6, 16)).toBe(true);
  });

  it('makes money available when a stream costs less, and not when its record is stored', async () => {
    const budget = new Budget(1_000);
    const hold = new SharedHold(budget.write);
    await hold.grow(20, 1);
    hold.take(20);
    hold.change(20, 5);
    expect(hold.take(15)).toBe(true);
    // The first stream is now in the ledger: its money is spent.
    budget.spent += 5;
    hold.stored(5);
    expect(hold.take(1)).toBe(false);
    expect(hold.hasSpare).toBe(true);
    await hold.shrink();
    expect([budget.row, hold.hasSpare]).toEqual([15, false]);
  });

  it('does not count money twice that was spent while the row was written', async () => {
    const budget = new Budget(1_000, true);
    const hold = new SharedHold(budget.write);
    const first = hold.grow(20, 1);
    budget.finish();
    await first;
    hold.take(20);
    const second = hold.grow(20, 1);
    hold.stored(20);
    budget.spent += 20;
    budget.finish();
    expect(await second).toBe(true);
    // The row has 40, of which 20 were spent meanwhile.
    expect([hold.take(20), hold.take(1)]).toEqual([true, false]);
  });

  it('lets streams take only what both amounts cover while the row shrinks', async () => {
    const budget = new Budget(1_000, true);
    const hold = new SharedHold(budget.write);
    const grown = hold.grow(20, 1);
    budget.finish();
    await grown;
    hold.take(5);
    const shrunk = hold.shrink();
    expect(hold.take(1)).toBe(false);
    budget.finish();
    await shrunk;
    expect([budget.row, hold.take(1)]).toEqual([5, false]);
  });

  it('writes the row again after a write whose result is not known', async () => {
    let fails = true;
    const budget = new Budget(1_000);
    const hold = new SharedHold(async (micros, needed) => {
      const isWritten = await budget.write(micros, needed);
      if (fails) throw new Error('The connection was lost.');
      return isWritten;
    });
    await expect(hold.grow(20, 1)).rejects.toThrow('lost');
    expect([budget.row, hold.take(1), hold.hasSpare]).toEqual([20, false, true]);
    fails = false;
    await hold.shrink();
    expect([budget.row, hold.hasSpare]).toEqual([0, false]);
  });

  it('never lets spent and taken money exceed the budget, whatever happens in which order', async () => {
    for (let seed = 1; seed <= 50; seed++) {
      let state = seed;
      const random = (most: number): number => {
        state = (state * 48_271) % 2_147_483_647;
        return state % most;
      };
      const budget = new Budget(2_000, true);
      const hold = new SharedHold(budget.write);
      const running: number[] = [];
      const ended: number[] = [];
      for (let step = 0; step < 200; step++) {
        const choice = random(7);
        const micros = 1 + random(40);
        if (choice <= 1 && hold.take(micros)) running.push(micros);
        const stream = choice === 2 ? running.shift() : undefined;
        if (stream !== undefined) {
          const cost = random(stream + 1);
          hold.change(stream, cost);
          ended.push(cost);
        }
        const cost = choice === 3 ? ended.shift() : undefined;
        if (cost !== undefined) {
          budget.spent += cost;
          hold.stored(cost);
        }
        if (choice === 4) void hold.grow(micros * 3, 2);
        if (choice === 5) void hold.shrink();
        budget.finish();
        for (let turn = 0; turn < 10; turn++) await Promise.resolve();
        const taken = [...running, ...ended].reduce((sum, each) => sum + each, 0);
        expect(budget.spent + taken).toBeLessThanOrEqual(budget.amount);
        expect(budget.row).toBeGreaterThanOrEqual(taken);
      }
    }
  });
});
