import { describe, expect, it } from 'vitest';
import { agreedCounts } from '../../../../../src/upstreams/protocols/shared/token-count.js';

describe('the counts of prompt and answer', () => {
  it.each([
    ['stay as they are without a total', [10, 4, undefined], [10, 4]],
    ['stay as they are with a total that is no number', [10, 4, Infinity], [10, 4]],
    ['stay as they are with a total that is not above the prompt', [10, 4, 10], [10, 4]],
    ['add up to the total', [10, 4, 19], [10, 9]],
    ['find the answer by the total', [10, undefined, 19], [10, 9]],
    ['find the prompt by the total', [undefined, 4, 19], [15, 4]],
    ['find no prompt by a total that is not above the answer', [undefined, 4, 4], [undefined, 4]],
    ['find nothing by the total alone', [undefined, undefined, 19], [undefined, undefined]],
  ] as const)('%s', (_, [input, output, total], [inputTokens, outputTokens]) => {
    expect(agreedCounts(input, output, total)).toEqual({ inputTokens, outputTokens });
  });
});
