import { describe, expect, it } from 'vitest';
import { dayTicks, valueTicks } from '../../../../../src/plugins/dashboard/usage/bar-chart.js';

describe('the axes of a chart', () => {
  it.each([0, 1, 3, 7, 12, 99, 100, 101, 2_340, 123_456])('have 5 to 7 values for %i requests', (highest) => {
    const ticks = valueTicks(highest, true);
    expect(ticks.length).toBeGreaterThanOrEqual(5);
    expect(ticks.length).toBeLessThanOrEqual(7);
    expect(ticks[0]).toBe(0);
    expect(ticks.at(-1)).toBeGreaterThanOrEqual(highest);
    expect(ticks.every(Number.isInteger)).toBe(true);
  });

  it.each([0, 0.000_003, 0.042, 1.5, 1234.56])('have 5 to 7 values for a cost of %d', (highest) => {
    const ticks = valueTicks(highest, false);
    expect(ticks.length).toBeGreaterThanOrEqual(5);
    expect(ticks.length).toBeLessThanOrEqual(7);
    expect(ticks.at(-1)).toBeGreaterThanOrEqual(highest);
  });

  it.each([7, 30, 90])('have 5 to 7 of %i days, with the first and the last', (days) => {
    const ticks = dayTicks(days);
    expect(ticks.length).toBeGreaterThanOrEqual(5);
    expect(ticks.length).toBeLessThanOrEqual(7);
    expect([ticks[0], ticks.at(-1)]).toEqual([0, days - 1]);
  });
});
