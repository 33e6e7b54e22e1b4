import { describe, expect, it } from 'vitest';
import { receiptOf } from '../../../../src/usage/queries/receipt-row.js';
import { ledgerRow } from '../../../../src/usage/store/record-columns.js';
import { ROW } from './receipt-row.js';

const receipt = (row: object) => receiptOf(ledgerRow({ ...ROW, ...row }));

describe('a receipt', () => {
  it('says of each figure that it is not known, and never 0', () => {
    const unknown = {
      ...{ prompt_tokens: null, cached_prompt_tokens: null, cache_write_prompt_tokens: null },
      ...{ completion_tokens: null, reasoning_completion_tokens: null },
      ...{ tool_calls: null, cost_micros: null, currency: null, attempt_details: null },
    };
    expect(receipt(unknown)).toMatchObject({
      tokens: {
        ...{ input: null, cached_input: null, cache_write_input: null, output: null, reasoning_output: null },
        source: 'unknown',
      },
      tool_calls: null,
      cost: null,
      attempts: [],
    });
    expect(receipt({ cost_micros: 0, prompt_tokens: 0 })).toMatchObject({ cost: 0, tokens: { input: 0 } });
  });

  it.each([
    ['reported', 'estimated', 'estimated'],
    ['estimated', 'reported', 'estimated'],
  ])('with counts that are %s and %s has tokens that are %s', (input, output, source) => {
    const row = { prompt_tokens_source: input, completion_tokens_source: output };
    expect(receipt(row).tokens.source).toBe(source);
  });

  it.each([
    ['reported', 'reported'],
    ['estimated', 'estimated'],
  ])('with one known count, that is %s, has tokens that are %s', (known, source) => {
    const input = { completion_tokens: null, prompt_tokens_source: known, completion_tokens_source: 'other' };
    const output = { prompt_tokens: null, completion_tokens_source: known, prompt_tokens_source: 'other' };
    expect([receipt(input).tokens.source, receipt(output).tokens.source]).toEqual([source, source]);
  });
});
