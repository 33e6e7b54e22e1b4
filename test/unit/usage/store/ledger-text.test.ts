import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { ledgerText, UnstorableData } from '../../../../src/usage/store/ledger-text.js';

describe('a text of the ledger', () => {
  it.each(['', 'acme/fast', 'x'.repeat(255), '\u{1f600}'])('is kept as it is: %j', (text) => {
    expect(ledgerText(text)).toBe(text);
  });

  it('has a mark for each character that a database refuses', () => {
    expect(ledgerText('a\0\u0085b\ud800\udc00\ud800c')).toBe('a\ufffd\ufffdb\ud800\udc00\ufffdc');
  });

  it('that is too long is cut, and ends with a hash of all of it', () => {
    const text = `\0${'x'.repeat(255)}`;
    const hash = createHash('sha256').update(text).digest('base64url');
    expect(ledgerText(text)).toBe(`\ufffd${'x'.repeat(199)}~${hash}`);
  });

  it.each([7, null, undefined, {}])('cannot be %j', (value) => {
    expect(() => ledgerText(value as string)).toThrow(UnstorableData);
  });
});
