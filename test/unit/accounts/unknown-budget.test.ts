import { describe, expect, it } from 'vitest';
import { UnknownBudget } from '../../../src/accounts/credentials/unknown-budget.js';

const AT_ONCE = 200;
const HOUR_MS = 3_600_000;

describe('the budget of a network for unknown credentials', () => {
  it('never exceeds the first burst, however long the network sends nothing', () => {
    let now = 0;
    const budget = new UnknownBudget(() => now);
    const takeAll = () => {
      let taken = 0;
      while (taken <= AT_ONCE && budget.take('network')) taken++;
      return taken;
    };
    expect(takeAll()).toBe(AT_ONCE);
    now += HOUR_MS;
    expect(takeAll()).toBe(AT_ONCE);
  });
});
