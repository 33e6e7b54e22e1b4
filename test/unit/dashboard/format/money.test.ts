import { describe, expect, it } from 'vitest';
import { decimalsFor, money } from '../../../../src/dashboard/format/money.js';

describe('money', () => {
  it('has as many decimals as the smallest amount of its column needs', () => {
    expect(decimalsFor([1234.5, 0])).toBe(2);
    expect(decimalsFor([1234.5, 0.0025])).toBe(4);
    expect(decimalsFor([1, 0.000_668])).toBe(6);
    expect(money(1, 'USD', 6)).toBe('$1.000000');
    expect(money(0.0025, 'EUR')).toBe('€0.0025');
    expect(money(1234.5, 'USD')).toBe('$1,234.50');
  });
});
