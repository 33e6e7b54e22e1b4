import { describe, expect, it } from 'vitest';
import { openAiUsage } from '../../../../../src/upstreams/protocols/openai/openai-chunk.js';

const usage = (completion_tokens?: number, reasoning_tokens?: number, total_tokens?: number) =>
  openAiUsage({
    prompt_tokens: 10,
    completion_tokens,
    total_tokens,
    completion_tokens_details: { reasoning_tokens },
  });

describe('the reasoning in the usage of an OpenAI-compatible provider', () => {
  it.each([
    ['is a part of an answer that is as large', 5, 5, 5],
    ['is a part of a larger answer', 6, 5, 6],
    ['is added to an answer that is too small to contain it', 4, 5, 9],
  ])('%s', (_, completion, reasoning, output) => {
    expect(usage(completion, reasoning)).toMatchObject({ outputTokens: output, reasoningOutputTokens: reasoning });
  });

  it('is in the answer or not as the total says', () => {
    expect(usage(4, 5, 19)).toMatchObject({ inputTokens: 10, outputTokens: 9 });
    expect(usage(6, 5, 16)).toMatchObject({ inputTokens: 10, outputTokens: 6 });
  });

  it('is unknown where the provider does not report it', () => {
    expect(usage(4)).toEqual({ inputTokens: 10, outputTokens: 4 });
  });
});
