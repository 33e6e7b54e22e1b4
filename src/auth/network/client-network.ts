import ipaddr from 'ipaddr.js';
import { readAddress } from '../../platform/common/network/ip-address.js';

/** The shared network of all clients without a valid address. So a client cannot get new networks by inventing names. */
export const NO_NETWORK = 'unknown';

/**
 * The network that attempts are counted against: one IPv4 address, or the /64 of an IPv6 address, because one customer has
 * all addresses of a /64.
 *
 * @param address `request.ip`, which may be any text that a proxy has put into `X-Forwarded-For`.
 */
export function networkOf(address = ''): string {
  return prefixOf(address, 4);
}

/**
 * The widest network that one customer usually has: one IPv4 address, or the /48 of an IPv6 address.
 *
 * @param address see {@link networkOf}.
 */
export function sitePrefixOf(address = ''): string {
  return prefixOf(address, 3);
}

function prefixOf(text: string, groups: number): string {
  const address = readAddress(text);
  if (address === undefined) return NO_NETWORK;
  if (address instanceof ipaddr.IPv4) return address.toString();
  const kept = address.parts.slice(0, groups).map((group) => group.toString(16));
  return `${kept.join(':')}::/${groups * 16}`;
}
