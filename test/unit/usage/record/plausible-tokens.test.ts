import { describe, expect, it } from 'vitest';
import { maxPlausibleTokens } from '../../../../src/usage/record/ledger-entry.js';

describe('the highest plausible number of tokens', () => {
  it.each([
    [{ contextLength: 1000, maxOutputTokens: 500 }, 150_000],
    [{ contextLength: 1000, maxOutputTokens: undefined }, 200_000],
    [{ contextLength: 5_000_000, maxOutputTokens: 4_999_999 }, 999_999_900],
    [{ contextLength: 5_000_000, maxOutputTokens: 5_000_001 }, 1_000_000_000],
  ])('for a model of the size %j is %i', (size, most) => {
    expect(maxPlausibleTokens(size)).toBe(most);
  });
});
