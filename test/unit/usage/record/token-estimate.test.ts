import { estimateTokenCount } from 'tokenx';
import { describe, expect, it } from 'vitest';
import { estimatePromptTokens, estimateTokens } from '../../../../src/usage/record/token-estimate.js';

describe('an estimate of tokens', () => {
  it('grows with the length beyond the sample', () => {
    const count = estimateTokenCount('one two three four');
    expect(count).toBeGreaterThan(1);
    expect(estimateTokens('one two three four', 18)).toBe(count);
    expect(estimateTokens('one two three four', 180)).toBe(10 * count);
  });

  it('is 0 for no text, and at least 1 for any text', () => {
    expect([estimateTokens('', 0), estimateTokens(' ', 1)]).toEqual([0, 1]);
    expect([
      estimatePromptTokens({ messages: [] }),
      estimatePromptTokens({ messages: [{ role: 'user', content: '' }] }),
    ]).toEqual([0, 0]);
  });

  it('of a prompt reads the first 2,048 characters, across messages, and counts all of them', () => {
    const messages = ['a '.repeat(512), 'b '.repeat(600), '长'.repeat(5000)].map((content) => ({
      role: 'user' as const,
      content,
    }));
    const sample = 'a '.repeat(512) + 'b '.repeat(512);
    expect(estimatePromptTokens({ messages })).toBe(estimateTokens(sample, 1024 + 1200 + 5000));
    expect(estimatePromptTokens({ messages: [...messages].reverse() })).toBe(estimateTokens('长'.repeat(2048), 7224));
  });
});
