import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { networkOf } from '../../src/auth/client-network.js';

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
  ])('of %s is %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });

  it('is one for all that cannot be told apart', () => {
    expect(networkOf(undefined)).toBe(networkOf(''));
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
});
