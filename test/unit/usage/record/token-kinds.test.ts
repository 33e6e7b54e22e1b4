import { describe, expect, it } from 'vitest';
import { tokenKindsOf } from '../../../../src/usage/record/ledger-entry.js';

describe('the kinds of tokens', () => {
  const [input, output] = [{ source: 'reported', count: 100 } as const, { source: 'reported', count: 10 } as const];
  const NONE = { cachedInputTokens: undefined, cacheWriteInputTokens: undefined, reasoningOutputTokens: undefined };

  it('are what the provider has reported', () => {
    const usage = { cachedInputTokens: 60, cacheWriteInputTokens: 40, reasoningOutputTokens: 10 };
    expect(tokenKindsOf(usage, input, output)).toEqual(usage);
    expect(tokenKindsOf({}, input, output)).toEqual(NONE);
  });

  it.each([{ cachedInputTokens: 100 }, { cacheWriteInputTokens: 1 }, { reasoningOutputTokens: 10 }])(
    'may be reported in part: %o',
    (usage) => {
      expect(tokenKindsOf(usage, input, output)).toEqual({ ...NONE, ...usage });
    },
  );

  it('may be none', () => {
    const usage = { cachedInputTokens: 0, cacheWriteInputTokens: 0, reasoningOutputTokens: 0 };
    expect(tokenKindsOf(usage, input, output)).toEqual(usage);
  });

  it.each([
    { cachedInputTokens: 101 },
    { cachedInputTokens: 60, cacheWriteInputTokens: 41 },
    { cachedInputTokens: -1 },
    { cachedInputTokens: -1, cacheWriteInputTokens: 40 },
    { cachedInputTokens: 40, cacheWriteInputTokens: -1 },
    { cacheWriteInputTokens: 1.5 },
    { cachedInputTokens: Infinity },
    { reasoningOutputTokens: 11 },
  ])('are unknown if they cannot be parts of the whole: %o', (usage) => {
    expect(tokenKindsOf(usage, input, output)).toEqual(NONE);
  });

  it.each([
    { source: 'estimated', count: 100 },
    { source: 'implausible', count: 100, reported: Infinity },
    { source: 'unknown' },
  ] as const)('are unknown if the whole is not reported: $source', (whole) => {
    const usage = { cachedInputTokens: 6, cacheWriteInputTokens: 4, reasoningOutputTokens: 1 };
    expect(tokenKindsOf(usage, whole, whole)).toEqual(NONE);
  });
});
