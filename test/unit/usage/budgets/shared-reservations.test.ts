import { describe, expect, it, vi } from 'vitest';
import { SharedReservation } from '../../../../src/usage/budgets/shared-reservations.js';

/** A budget as the database keeps it: the ledger, and the row of the reservation. */
class Budget {
  spent = 0;
  row = 0;
  /** The writes that wait for {@link finish}. */
  readonly waiting: (() => void)[] = [];

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

describe('a shared reservation', () => {
  it('does not grow unless the budget has many times as much left', async () => {
    const budget = new Budget(100);
    const reservation = new SharedReservation(budget.write);
    expect(await reservation.grow(7, 16)).toBe(false);
    expect([reservation.take(1), budget.row]).toEqual([false, 0]);
    expect(await reservation.grow(6, 16)).toBe(true);
  });

  it('makes money available when a stream costs less, and not when its record is stored', async () => {
    const budget = new Budget(1_000);
    const reservation = new SharedReservation(budget.write);
    await reservation.grow(20, 1);
    reservation.take(20);
    reservation.change(20, 5);
    expect(reservation.take(15)).toBe(true);
    // The first stream is now in the ledger: its money is spent.
    budget.spent += 5;
    reservation.stored(5);
    expect(reservation.take(1)).toBe(false);
    expect(reservation.hasSpare).toBe(true);
    await reservation.shrink();
    expect([budget.row, reservation.hasSpare]).toEqual([15, false]);
  });

  it('writes no row when money is given back while the budget refuses it', async () => {
    const budget = new Budget(0, true);
    const reservation = new SharedReservation(budget.write);
    const writes = vi.spyOn(budget.waiting, 'push');
    const both = Promise.all([reservation.grow(10, 1), reservation.shrink()]);
    budget.finish();
    await both;
    expect(writes).toHaveBeenCalledTimes(1);
  });

  it('does not count money twice that was spent while the row was written', async () => {
    const budget = new Budget(1_000, true);
    const reservation = new SharedReservation(budget.write);
    const first = reservation.grow(20, 1);
    budget.finish();
    await first;
    reservation.take(20);
    const second = reservation.grow(20, 1);
    reservation.stored(20);
    budget.spent += 20;
    budget.finish();
    expect(await second).toBe(true);
    // The row has 40, of which 20 were spent meanwhile.
    expect([reservation.take(20), reservation.take(1)]).toEqual([true, false]);
  });

  it('lets streams take only what both amounts cover while the row shrinks', async () => {
    const budget = new Budget(1_000, true);
    const reservation = new SharedReservation(budget.write);
    const grown = reservation.grow(20, 1);
    budget.finish();
    await grown;
    reservation.take(5);
    const shrunk = reservation.shrink();
    expect(reservation.take(1)).toBe(false);
    budget.finish();
    await shrunk;
    expect([budget.row, reservation.take(1)]).toEqual([5, false]);
  });

  it('writes the row again after a write whose result is not known', async () => {
    let fails = true;
    const budget = new Budget(1_000);
    const reservation = new SharedReservation(async (micros, needed) => {
      const isWritten = await budget.write(micros, needed);
      if (fails) throw new Error('The connection was lost.');
      return isWritten;
    });
    await expect(reservation.grow(20, 1)).rejects.toThrow('lost');
    expect([budget.row, reservation.take(1), reservation.hasSpare]).toEqual([20, false, true]);
    fails = false;
    await reservation.shrink();
    expect([budget.row, reservation.hasSpare]).toEqual([0, false]);
  });

  it('never lets spent and taken money exceed the budget, whatever happens in which order', async () => {
    for (let seed = 1; seed <= 50; seed++) {
      let state = seed;
      const random = (most: number): number => {
        state = (state * 48_271) % 2_147_483_647;
        return state % most;
      };
      const budget = new Budget(2_000, true);
      const reservation = new SharedReservation(budget.write);
      const running: number[] = [];
      const ended: number[] = [];
      for (let step = 0; step < 200; step++) {
        const choice = random(7);
        const micros = 1 + random(40);
        if (choice <= 1 && reservation.take(micros)) running.push(micros);
        const stream = choice === 2 ? running.shift() : undefined;
        if (stream !== undefined) {
          const cost = random(stream + 1);
          reservation.change(stream, cost);
          ended.push(cost);
        }
        const cost = choice === 3 ? ended.shift() : undefined;
        if (cost !== undefined) {
          budget.spent += cost;
          reservation.stored(cost);
        }
        if (choice === 4) void reservation.grow(micros * 3, 2);
        if (choice === 5) void reservation.shrink();
        budget.finish();
        for (let turn = 0; turn < 10; turn++) await Promise.resolve();
        const taken = [...running, ...ended].reduce((sum, each) => sum + each, 0);
        expect(budget.spent + taken).toBeLessThanOrEqual(budget.amount);
        expect(budget.row).toBeGreaterThanOrEqual(taken);
      }
    }
  });
});
