import { describe, expect, it } from 'vitest';
import { receiptOf } from '../../../../src/usage/queries/recent-streams.js';
import { ledgerRow } from '../../../../src/usage/store/record-columns.js';
import { ROW } from './receipt-row.js';

const receipt = (row: object) => receiptOf(ledgerRow({ ...ROW, ...row }));

describe('a receipt', () => {
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
