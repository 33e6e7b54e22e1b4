import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { networkOf, NO_NETWORK, sitePrefixOf } from '../../../../src/auth/network/client-network.js';
import { anyString } from '../../../../src/testing/protocols/describe-events.js';
import { leastMs } from '../../../support/least-ms.js';
import { PROPERTY_RUNS } from '../../../support/property-runs.js';

const NETWORK = /^(\d{1,3}(\.\d{1,3}){3}|[0-9a-f]{1,4}(:[0-9a-f]{1,4}){3}::\/64)$/;
/** Far above what the longest header takes, far below what a quadratic pattern would. */
const AT_ONCE_MS = 50;

describe('the network of a client', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::FFFF:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::1', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8:1:2:3::192.0.2.7', '2001:db8:1:2::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['1.2.0.0', '1.2.0.0'],
    ['::1.2.3.4:5:6', 'unknown'],
    ['1:2:3:4::', '1:2:3:4::/64'],
    ['::1:2:3:4:5', '0:0:0:1::/64'],
  ])('of %s is %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });

  it.each([
    ['203.0.113.9:50123', '203.0.113.9'],
    ['203.0.113.9:_obfuscated-port', '203.0.113.9'],
    ['" 203.0.113.9 "', '203.0.113.9'],
    [`${' '.repeat(89)}203.0.113.9`, '203.0.113.9'],
    ['"203.0.113.9"', '203.0.113.9'],
    ['"203.0.113.9:443"', '203.0.113.9'],
    [' \t203.0.113.9:443\t ', '203.0.113.9'],
    ['[203.0.113.9]:443', '203.0.113.9'],
    ['[2001:db8:1:2::9]', '2001:db8:1:2::/64'],
    ['[2001:db8:1:2::9]:50123', '2001:db8:1:2::/64'],
    ['"[2001:db8:1:2::9]:50123"', '2001:db8:1:2::/64'],
    ['"[2001:db8:1:2::9]:_port"', '2001:db8:1:2::/64'],
    ['[2001:db8:1:2::9%25eth0]:443', '2001:db8:1:2::/64'],
    ['2001:db8:1:2:3:4:5:6:50123', '2001:db8:1:2::/64'],
    ['2001:db8:1:2:::50123', '2001:db8:1:2::/64'],
    ['fe80::1%eth0:443', 'fe80:0:0:0::/64'],
    ['[fe80::1%a very long name of an interface]:1', 'fe80:0:0:0::/64'],
    ['[::ffff:203.0.113.9]:50123', '203.0.113.9'],
    ['::ffff:203.0.113.9:50123', '203.0.113.9'],
    ['::ffff:cb00:7109', '203.0.113.9'],
    ['0:0:0:0:0:FFFF:CB00:7109', '203.0.113.9'],
    ['0000:0000:0000:0000:0000:ffff:203.0.113.9', '203.0.113.9'],
    ['64:ff9b::203.0.113.9', '203.0.113.9'],
    ['64:ff9b::cb00:7109', '203.0.113.9'],
  ])('is read from %j as %s', (text, network) => {
    expect(networkOf(text)).toBe(network);
  });

  it.each([
    '',
    ' ',
    'unknown',
    'UNKNOWN',
    '_hidden',
    '_gazonk-17',
    'garbage',
    'localhost',
    'unix:',
    '""',
    '"',
    '[]',
    '[]:443',
    '[2001:db8::1',
    '2001:db8::1]',
    '203.0.113',
    '203.0.113.256',
    '203.0.113.009',
    '203.0.113.9.1',
    '203.0.113.9:123456',
    '203.0.113.9:port',
    '203.0.113.9/24',
    '2001:db8::/64',
    '2001:db8::1::2',
    ':443',
    'for=203.0.113.9',
    '203.0.113.9, 203.0.113.10',
    '\0',
    'é'.repeat(40),
    `${'0'.repeat(200)}203.0.113.9`,
    `${' '.repeat(90)}203.0.113.9`,
    undefined,
  ])('is the one for what is no address when the text is %j', (text) => {
    expect(networkOf(text)).toBe(NO_NETWORK);
    expect(sitePrefixOf(text)).toBe(NO_NETWORK);
  });

  it('is the same for all addresses of an IPv6 customer, and another for any other customer', () => {
    const half = fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 4, maxLength: 4 });
    const text = (groups: readonly number[]) => groups.map((group) => group.toString(16)).join(':');
    fc.assert(
      fc.property(half, half, half, half, (customer, other, first, second) => {
        fc.pre(text(customer) !== text(other));
        const network = networkOf(`${text(customer)}:${text(first)}`);
        expect(networkOf(`${text(customer)}:${text(second)}`)).toBe(network);
        expect(networkOf(`${text(other)}:${text(first)}`)).not.toBe(network);
      }),
    );
  });

  it('does not depend on the port, the zone, quotes or brackets', () => {
    const port = fc.integer({ min: 1, max: 65_535 });
    fc.assert(
      fc.property(fc.ipV4(), fc.ipV6(), port, (ipv4, ipv6, number) => {
        for (const form of [`${ipv4}:${number}`, `"${ipv4}:${number}"`, `[::ffff:${ipv4}]:${number}`]) {
          expect(networkOf(form)).toBe(networkOf(ipv4));
        }
        for (const form of [`[${ipv6}]`, `[${ipv6}]:${number}`, `"[${ipv6}]:${number}"`, `${ipv6}%${number}`]) {
          expect(networkOf(form)).toBe(networkOf(ipv6));
        }
      }),
    );
  });

  it('is an address or the one for what is no address, whatever is sent', () => {
    const piece = fc.oneof(
      anyString,
      fc.ipV4(),
      fc.ipV6(),
      fc.constantFrom('"', '[', ']', ':', '%', '.', ',', ' ', '\t', '_', '-', ';', '=', 'unknown', '%eth0', ':443'),
    );
    const text = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(text, (sent) => {
        const network = networkOf(sent);
        if (network !== NO_NETWORK) expect(network).toMatch(NETWORK);
      }),
      { numRuns: PROPERTY_RUNS },
    );
  });

  it.each(['"', '[', ']', ':', '%', ' ', '\t', '0', 'f:', '::', '_', '1.', ',', '[[[]]]'])(
    'is found at once in 16 KB of %j',
    (piece) => {
      const long = piece.repeat(16_384 / piece.length);
      const texts = [long, `203.0.113.9${long}`, `${long}203.0.113.9`, `[${long}]`, `"${long}"`];
      expect(leastMs(() => texts.map(networkOf))).toBeLessThan(AT_ONCE_MS);
    },
  );
});

describe('the site of a client', () => {
  it.each([
    ['192.0.2.7:443', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2::1', '2001:db8:1::/48'],
    ['[2001:db8:1:ffff::2]:443', '2001:db8:1::/48'],
    ['2001:db8::1', '2001:db8:0::/48'],
  ])('of %s is %s', (address, site) => {
    expect(sitePrefixOf(address)).toBe(site);
  });
});
