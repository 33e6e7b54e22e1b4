import { describe, expect, it } from 'vitest';
import { UsageSum, busiestOf } from '../../../../../src/plugins/dashboard/usage/usage-sum.js';

describe('the busiest of many sums', () => {
  const sumOf = (requests: number): UsageSum => Object.assign(new UsageSum(), { requests });
  const named = (...requests: number[]) => requests.map((each, index) => [`${index}`, sumOf(each)] as const);

  it('are sorted by requests, and the others are one sum', () => {
    const { busiest, otherCount, others } = busiestOf(named(3, 9, 1, 9, 4), 3);
    expect(busiest.map(([name]) => name)).toEqual(['1', '3', '4']);
    expect([otherCount, others.requests]).toEqual([2, 4]);
  });

  it('are all sums when there are no more', () => {
    const { busiest, otherCount } = busiestOf(named(1, 2), 2);
    expect(busiest.map(([name]) => name)).toEqual(['1', '0']);
    expect(otherCount).toBe(0);
  });
});
