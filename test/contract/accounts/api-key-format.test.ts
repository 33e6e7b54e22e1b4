import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { API_KEY_FORMAT, hashSecret } from '../../../src/accounts/credentials/secrets.js';

describe('API keys', () => {
  it('have a mark, 43 characters of secret and 6 of checksum', () => {
    expect(API_KEY_FORMAT.generate()).toMatch(/^csk_[0-9A-Za-z]{49}$/);
  });

  it('differ', () => {
    expect(new Set(Array.from({ length: 1000 }, () => API_KEY_FORMAT.generate())).size).toBe(1000);
  });

  it('end with the CRC-32 of what stands before, in base 62', () => {
    const key = API_KEY_FORMAT.generate();
    const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
    const checksum = Array.from(key.slice(-6)).reduce((sum, digit) => sum * 62 + digits.indexOf(digit), 0);
    expect(checksum).toBe(crc32(key.slice(0, -6)));
  });

  it('are well formed as they are made', () => {
    expect(
      Array.from({ length: 100 }, () => API_KEY_FORMAT.generate()).every((text) => API_KEY_FORMAT.isWellFormed(text)),
    ).toBe(true);
  });

  it('are not well formed with any one character changed', () => {
    const key = API_KEY_FORMAT.generate();
    const changed = Array.from(key).map((c, at) => key.slice(0, at) + (c === 'x' ? 'y' : 'x') + key.slice(at + 1));
    expect(changed.filter((text) => API_KEY_FORMAT.isWellFormed(text))).toEqual([]);
  });

  it.each([
    '',
    'csk_',
    'Bearer',
    `${API_KEY_FORMAT.generate()}\n`,
    ` ${API_KEY_FORMAT.generate()}`,
    API_KEY_FORMAT.generate().slice(0, -1),
  ])('do not look like %j', (text) => {
    expect(API_KEY_FORMAT.isWellFormed(text)).toBe(false);
  });

  it('are hashed with SHA-256', () => {
    expect(hashSecret('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });

  it('are identified by their first 12 characters', () => {
    expect(API_KEY_FORMAT.prefixOf('csk_0123456789')).toBe('csk_01234567');
  });
});
