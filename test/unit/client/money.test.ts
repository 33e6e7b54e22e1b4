import { describe, expect, it } from 'vitest';
import { money } from '../../../src/client/money.js';

describe('an amount of money', () => {
  it.each([
    [0, '$0.00'],
    [1, '$1.00'],
    [1.005_001, '$1.01'],
    [1234.5, '$1,234.50'],
    [99.999_999, '$100.00'],
  ])('has two decimals from one unit on: %d is %s', (amount, text) => {
    expect(money(amount, 'USD')).toBe(text);
  });

  it.each([
    [0.5, '€0.50'],
    [0.0025, '€0.0025'],
    [0.123_456, '€0.1235'],
    [0.000_668, '€0.000668'],
  ])('has the fewest decimals that tell a smaller amount: %d is %s', (amount, text) => {
    expect(money(amount, 'EUR')).toBe(text);
  });
});
