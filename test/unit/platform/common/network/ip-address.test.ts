import { describe, expect, it } from 'vitest';
import {
  isWithin,
  parseAddressRange,
  type AddressRange,
} from '../../../../../src/platform/common/network/ip-address.js';

const range = (text: string): AddressRange => parseAddressRange(text) as AddressRange;

describe('a range of addresses', () => {
  it.each([
    ['10.0.0.0/8', '10.255.3.4', true],
    ['10.0.0.0/8', '11.0.0.1', false],
    ['10.0.0.0/8', '::ffff:10.1.2.3', true],
    ['10.0.0.0/8', '10.1.2.3:5123', true],
    ['192.168.7.9', '192.168.7.9', true],
    ['192.168.7.9', '192.168.7.10', false],
    ['0.0.0.0/0', '203.0.113.9', true],
    ['0.0.0.0/0', '2001:db8::1', false],
    ['::1', '::1', true],
    ['::1', '127.0.0.1', false],
    ['2001:db8::/32', '2001:db8:1::9', true],
    ['2001:DB8::/32', '[2001:db8:1::9]:443', true],
    ['2001:db8::/32', '2001:db9::1', false],
    ['::ffff:10.0.0.0/104', '10.9.9.9', true],
    ['10.0.0.0/8', 'unknown', false],
    ['0.0.0.0/0', '', false],
  ])('%s and %s: %s', (text, address, expected) => {
    expect(isWithin([range(text)], address)).toBe(expected);
  });

  it.each([
    '',
    '10.0.0.0/33',
    '10.0.0/8',
    '010.0.0.1',
    '::/129',
    'example.com',
    '10.0.0.1/',
    '1::2::3',
    '10.0.0.1 ',
    '0x7f.1',
  ])('is not %j', (text) => {
    expect(parseAddressRange(text)).toBeUndefined();
  });
});
