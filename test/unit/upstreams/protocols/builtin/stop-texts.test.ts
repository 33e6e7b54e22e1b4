import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { untilStop } from '../../../../../src/upstreams/protocols/builtin/stop-texts.js';

const textOf = (pieces: Iterable<string>) => [...pieces].join('');

describe('a text with stop texts', () => {
  it('ends before the first of them, wherever the text is split', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c') });
    const stops = fc.array(
      letters.filter((stop) => stop !== ''),
      { minLength: 1, maxLength: 4 },
    );
    fc.assert(
      fc.property(fc.array(letters), stops, (pieces, given) => {
        const whole = pieces.join('');
        const ends = given.map((stop) => whole.indexOf(stop)).filter((index) => index !== -1);
        expect(textOf(untilStop(pieces, given))).toBe(whole.slice(0, Math.min(...ends, whole.length)));
      }),
    );
  });

  it('holds back only what can be the beginning of one', () => {
    const pieces = untilStop(['Hello ', 'world'], ['END']);
    expect(pieces.next().value).toBe('Hell');
  });
});
