import { describe, expect, it } from 'vitest';
import { isBoundedJson } from '../../../src/upstreams/protocols/shared/json-bounds.js';

const UNCHECKED_LENGTH = 2_048;
const MAX_DEPTH = 64;
const MAX_VALUES = 20_000;
const BRACKETS = '['.repeat(MAX_DEPTH + 1);

/** JSON that is longer than what is not checked, because of a text that counts as nothing but itself. */
const long = (json: string): string => `"${'x'.repeat(UNCHECKED_LENGTH)}"${json}`;

describe('the bounds of JSON', () => {
  it.each([
    ['[', ']'],
    ['{"a":', '}'],
  ])('are 64 levels of %s…%s', (opening, closing) => {
    const nested = (depth: number) => long(opening.repeat(depth) + closing.repeat(depth));
    expect([isBoundedJson(nested(MAX_DEPTH)), isBoundedJson(nested(MAX_DEPTH + 1))]).toEqual([true, false]);
  });

  it.each([
    ['arrays', '[]'],
    ['objects', '{}'],
    ['values', ','],
  ])('are 20,000 %s', (_, value) => {
    const many = (count: number) => long(value.repeat(count));
    expect([isBoundedJson(many(MAX_VALUES)), isBoundedJson(many(MAX_VALUES + 1))]).toEqual([true, false]);
  });

  it('hold for no text of up to 2,048 characters', () => {
    const deep = (length: number) => '['.repeat(length);
    expect([isBoundedJson(deep(UNCHECKED_LENGTH)), isBoundedJson(deep(UNCHECKED_LENGTH + 1))]).toEqual([true, false]);
  });

  it.each([
    ['a quote', String.raw`["\"${BRACKETS}"]`],
    ['a backslash at its end', String.raw`["\\","${BRACKETS}"]`],
    ['no end', `["${BRACKETS}`],
  ])('do not count the brackets in a text with %s', (_, json) => {
    expect(isBoundedJson(long(json))).toBe(true);
  });
});
