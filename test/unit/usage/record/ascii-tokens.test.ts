import { estimateTokenCount } from 'tokenx';
import { describe, expect, it } from 'vitest';
import { estimateAsciiTokens } from '../../../../src/usage/record/ascii-tokens.js';

const PIECES = [
  ' ',
  '\n',
  '\t',
  '\r\n',
  '\n  ',
  '.',
  ',',
  '()',
  '----',
  '#$%^&*!',
  "'",
  '\u0000',
  'a',
  'word',
  'tokenizer',
];
const WORDS = ['Capital', 'UPPER', '1', '2026', '12345678', 'a1', '1a', "don't", 'x'.repeat(40), '_', '"', 'e.g.'];

/** A generator of the same numbers in each run. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 1_103_515_245 + 12_345) % 2 ** 31);
}

describe('the estimate of the tokens of an ASCII text', () => {
  it('equals the estimate of the library for any text', () => {
    const next = numbers(7);
    const all = [...PIECES, ...WORDS];
    for (let round = 0; round < 5_000; round += 1) {
      const text = Array.from({ length: next() % 12 }, () => all[next() % all.length]).join('');
      expect(estimateAsciiTokens(text), JSON.stringify(text)).toBe(estimateTokenCount(text));
    }
  });

  it('equals the estimate of the library for each pair of characters', () => {
    const characters = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code));
    for (const one of characters) {
      for (const other of characters) {
        const text = `${one}${other}${one}`;
        expect(estimateAsciiTokens(text), JSON.stringify(text)).toBe(estimateTokenCount(text));
      }
    }
  });

  it('is left to the library for a text with another character', () => {
    expect(estimateAsciiTokens('naïve')).toBeUndefined();
    expect(estimateAsciiTokens('日本語')).toBeUndefined();
  });
});
