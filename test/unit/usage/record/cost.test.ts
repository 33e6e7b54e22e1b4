import { describe, expect, it } from 'vitest';
import { appliedPrice, costMicrosOf } from '../../../../src/usage/record/ledger-entry.js';

const PRICE = { inputPerMillion: 3, outputPerMillion: 15, currency: 'USD' };

describe('the cost of a stream', () => {
  const reported = (count: number) => ({ source: 'reported', count }) as const;
  const unknown = { source: 'unknown' } as const;
  const tokens = (input: number, output: number) => ({ inputTokens: reported(input), outputTokens: reported(output) });

  it('is whole millionths by the price of each token', () => {
    expect(costMicrosOf(PRICE, tokens(10, 2))).toBe(60);
    expect(costMicrosOf({ ...PRICE, inputPerMillion: 0.05, outputPerMillion: 0.4 }, tokens(10, 1))).toBe(1);
    expect(costMicrosOf(PRICE, tokens(0, 0))).toBe(0);
  });

  it('is unknown without a price, and without any count', () => {
    expect(costMicrosOf(undefined, tokens(10, 2))).toBeUndefined();
    expect(costMicrosOf(PRICE, { inputTokens: unknown, outputTokens: unknown })).toBeUndefined();
  });

  it('has the known tokens next to unknown ones', () => {
    expect(costMicrosOf(PRICE, { inputTokens: unknown, outputTokens: reported(2) })).toBe(30);
    expect(costMicrosOf(PRICE, { inputTokens: reported(10), outputTokens: unknown })).toBe(30);
  });

  it('charges each kind of token by its own price', () => {
    const kinds = { cachedInputTokens: 60, cacheWriteInputTokens: 30, reasoningOutputTokens: 4 };
    const prices = { cachedInputPerMillion: 0.3, cacheWriteInputPerMillion: 4 };
    expect(costMicrosOf({ ...PRICE, ...prices }, { ...tokens(100, 5), ...kinds })).toBe(30 + 18 + 120 + 75);
    const reasoning = { ...prices, reasoningOutputPerMillion: 20 };
    expect(costMicrosOf({ ...PRICE, ...reasoning }, { ...tokens(100, 5), ...kinds })).toBe(30 + 18 + 120 + 15 + 80);
  });

  it('charges tokens of the cache without a price of their own as ordinary input', () => {
    expect(costMicrosOf(PRICE, { ...tokens(100, 5), cachedInputTokens: 60 })).toBe(375);
    expect(costMicrosOf(PRICE, { ...tokens(100, 5), cacheWriteInputTokens: 60 })).toBe(375);
    const none = { cachedInputTokens: 0, cacheWriteInputTokens: 0 };
    expect(costMicrosOf(PRICE, { ...tokens(100, 5), ...none })).toBe(375);
  });

  it('uses the prices of long prompts for all tokens above the limit', () => {
    const long = { inputPerMillion: 6, outputPerMillion: 30, aboveInputTokens: 100 };
    const price = { ...PRICE, longInput: long };
    expect(appliedPrice(price, tokens(100, 1))).toEqual(PRICE);
    expect(appliedPrice(price, tokens(101, 1))).toEqual({ inputPerMillion: 6, outputPerMillion: 30, currency: 'USD' });
    expect(appliedPrice(price, { inputTokens: unknown })).toEqual(PRICE);
    expect(appliedPrice(undefined, tokens(1, 1))).toBeUndefined();
  });
});
