import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { untilStop } from '../../../../../src/upstreams/protocols/builtin/builtin.js';
import { PROPERTY_RUNS } from '../../../../support/property-runs.js';

const textOf = (pieces: Iterable<string>) => [...pieces].join('');

describe('a text with stop texts', () => {
  it('ends before the one that is whole first, wherever the text is split', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c') });
    const stops = fc.array(
      letters.filter((stop) => stop !== ''),
      { minLength: 1, maxLength: 4 },
    );
    fc.assert(
      fc.property(fc.array(letters), stops, (pieces, given) => {
        const whole = pieces.join('');
        const lengths = Array.from({ length: whole.length + 1 }, (_, length) => length);
        const end = lengths.find((length) => given.some((stop) => whole.slice(0, length).endsWith(stop)));
        const starts = given
          .filter((stop) => whole.slice(0, end).endsWith(stop))
          .map(({ length }) => (end ?? 0) - length);
        expect(textOf(untilStop(pieces, given))).toBe(end === undefined ? whole : whole.slice(0, Math.min(...starts)));
      }),
      { numRuns: PROPERTY_RUNS },
    );
  });

  it('ends before a short one inside of a longer one that is not whole yet', () => {
    expect(textOf(untilStop(['ab', 'c'], ['abc', 'b']))).toBe('a');
    expect(textOf(untilStop(['abc'], ['abc', 'b']))).toBe('a');
  });

  it('holds back only what can be the beginning of one', () => {
    const pieces = untilStop(['Hello ', 'world'], ['END']);
    expect(pieces.next().value).toBe('Hell');
  });
});
