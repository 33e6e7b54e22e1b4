import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TokenScan } from '../../../../src/upstreams/tokens/token-scan.js';
import { ORDINARY_TEXTS } from '../../../support/ordinary-texts.js';
import { anyText } from '../../../support/texts.js';
import { mostTokens, TOKENIZERS } from '../../../support/tokenizers.js';

function estimate(text: string): number {
  const scan = new TokenScan();
  scan.add(text);
  return scan.tokens;
}

const CODE = [
  'chat/chat.service.ts',
  'usage/budgets/shared-reservations.ts',
  'platform/http/body/json/parse-json-body.ts',
];
const sourceOf = (path: string): string => readFileSync(new URL(`../../../../src/${path}`, import.meta.url), 'utf8');

/** Words, sentences and characters whose cost differs much from the average of their script. */
const REPEATED = [
  ...[
    '漢字',
    '字',
    '中文',
    '你好，世界。',
    '这是一个测试',
    '繁體中文',
    '龘',
    '東京',
    '日本語',
    'テスト',
    'これはテストです。',
  ],
  ...['한국어', '안녕하세요 세계 ', 'word ', 'a', 'ab', ' ', '\n', '!?', '0', '🦄', '👍🏽', '❤️'],
];

describe('the estimated tokens of a text', () => {
  it.each(Object.entries(ORDINARY_TEXTS))('in %s are within 10 % of the tokenizer that counts more', (_, text) => {
    const most = mostTokens(text);
    expect(estimate(text) / most).toBeGreaterThan(0.9);
    expect(estimate(text) / most).toBeLessThan(1.1);
  });

  it.each(CODE)('of the file %s are within 10 % of each tokenizer', (path) => {
    const text = sourceOf(path);
    for (const [name, count] of Object.entries(TOKENIZERS)) {
      expect(Math.abs(estimate(text) / count(text) - 1), name).toBeLessThan(0.1);
    }
  });

  it('of any text are at least 90 % of the tokens that a tokenizer counts', () => {
    const texts = fc.array(anyText, { minLength: 1, maxLength: 4 }).map((some) => some.join('\n\n'));
    fc.assert(
      fc.property(texts, (text) => {
        expect(estimate(text)).toBeGreaterThanOrEqual(Math.floor(0.9 * mostTokens(text)));
      }),
      { numRuns: 100, seed: 47, endOnFailure: true },
    );
  });

  it.each(REPEATED)('of %j, repeated, are at least 90 % of the tokens that a tokenizer counts', (text) => {
    const repeated = text.repeat(Math.ceil(500 / text.length));
    expect(estimate(repeated) / mostTokens(repeated)).toBeGreaterThanOrEqual(0.9);
  });

  it('of words behind several spaces count the spaces', () => {
    const text = 'the  quick   brown    fox  '.repeat(20);
    expect(estimate(text) / mostTokens(text)).toBeGreaterThanOrEqual(0.9);
  });

  it('are at least one token for 128 characters, which is the longest token of a vocabulary', () => {
    for (const one of [' ', '\n', '\t', '-', '=', '*', '_', '#', '—', '　']) {
      expect(estimate(one.repeat(128 * 20)), JSON.stringify(one)).toBeGreaterThanOrEqual(20);
      expect(estimate(one.repeat(128 * 20)), JSON.stringify(one)).toBeGreaterThanOrEqual(
        mostTokens(one.repeat(128 * 20)),
      );
    }
  });

  it('grow with the letters of a word that never ends', () => {
    expect(estimate('word'.repeat(512))).toBeGreaterThanOrEqual(mostTokens('word'.repeat(512)));
    expect(estimate('x'.repeat(2_048))).toBeGreaterThanOrEqual(mostTokens('x'.repeat(2_048)));
  });

  it('do not depend on the pieces in which the text arrives', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 50 }), (text, size) => {
        const scan = new TokenScan();
        for (let start = 0; start < text.length; start += size) scan.add(text.slice(start, start + size));
        expect(scan.tokens).toBe(estimate(text));
      }),
    );
  });

  it('of an empty text are 0, and of each other text at least 1', () => {
    expect([estimate(''), estimate(' '), estimate('a')]).toEqual([0, 1, 1]);
  });
});
