import fc from 'fast-check';

const codePoint = fc.oneof(fc.nat(0xd7ff), fc.integer({ min: 0xe000, max: 0x10ffff }));

/**
 * Strings of any characters, and strings that programs often get wrong. In contrast to the unit `binary` of fast-check, it has no table
 * of all characters, which takes a second.
 */
export const anyString = fc.oneof(
  { weight: 1, arbitrary: fc.string() },
  { weight: 4, arbitrary: fc.string({ unit: codePoint.map((code) => String.fromCodePoint(code)) }) },
);
