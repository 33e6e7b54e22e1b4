import { describe, expect, it } from 'vitest';
import type { Receipt } from '../../../src/client.js';
import { receiptFacts } from '../../../src/client/receipt-facts.js';

const RECEIPT: Receipt = {
  request_id: 'r1',
  model: 'acme/fast',
  outcome: 'completed',
  finish_reason: 'stop',
  started_at: '2026-11-24T12:00:00.000Z',
  first_text_at: '2026-11-24T12:00:01.500Z',
  ended_at: '2026-11-24T12:00:03.500Z',
  tokens: {
    input: 1_200,
    cached_input: null,
    cache_write_input: null,
    output: 34,
    reasoning_output: null,
    source: 'reported',
  },
  cost: 0.0125,
  currency: 'USD',
  attempts: [],
};

describe('the facts of a receipt', () => {
  it('are the tokens, the cost, the times in seconds and the end, in words', () => {
    expect(receiptFacts(RECEIPT)).toEqual([
      '1,200 tokens in',
      '34 tokens out',
      '$0.0125',
      'first text after 1.5 s',
      '17 tokens/s',
      'finished',
    ]);
  });

  it('mark the estimates', () => {
    const facts = receiptFacts({ ...RECEIPT, tokens: { ...RECEIPT.tokens, source: 'estimated' } });
    expect(facts.slice(0, 3)).toEqual(['≈ 1,200 tokens in', '≈ 34 tokens out', '≈ $0.0125']);
  });

  it('say that a first text came at once', () => {
    const facts = receiptFacts({ ...RECEIPT, first_text_at: '2026-11-24T12:00:00.099Z' });
    expect(facts).toContain('first text after < 0.1 s');
  });

  it('name no speed of an answer that came in one piece', () => {
    const facts = receiptFacts({ ...RECEIPT, ended_at: '2026-11-24T12:00:01.549Z' });
    expect(facts.filter((fact) => fact.includes('tokens/s'))).toEqual([]);
  });

  it('leave out what is not known', () => {
    const tokens = { ...RECEIPT.tokens, input: null, output: null, source: 'unknown' } as const;
    const unknown = { finish_reason: null, first_text_at: null, ended_at: null, cost: null, currency: null };
    expect(receiptFacts({ ...RECEIPT, ...unknown, tokens })).toEqual([]);
  });

  it('say how an answer ended that is not finished, also in the words of the provider', () => {
    const last = (reason: string) => receiptFacts({ ...RECEIPT, finish_reason: reason }).at(-1);
    expect(['length', 'content_filter', 'tool_use'].map(last)).toEqual([
      'cut off at the token limit',
      'content filter',
      'tool_use',
    ]);
  });
});
