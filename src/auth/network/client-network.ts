import { parseAddress, type AddressGroups } from './client-address.js';

/** The shared network of all clients without a valid address. So a client cannot get new networks by inventing names. */
export const NO_NETWORK = 'unknown';

/** Prefixes of IPv6 addresses that hold an IPv4 address in their last 32 bits: IPv4-mapped, and NAT64 (RFC 6052). */
const IPV4_PREFIXES: readonly AddressGroups[] = [
  [0, 0, 0, 0, 0, 0xffff],
  [0x64, 0xff9b, 0, 0, 0, 0],
];

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
export function siteOf(address = ''): string {
  return prefixOf(address, 3);
}

function prefixOf(address: string, groups: number): string {
  const parsed = parseAddress(address);
  if (parsed === undefined) return NO_NETWORK;
  if (IPV4_PREFIXES.some((prefix) => prefix.every((group, at) => parsed[at] === group))) return ipv4Of(parsed);
  const kept = parsed.slice(0, groups).map((group) => group.toString(16));
  return `${kept.join(':')}::/${groups * 16}`;
}

function ipv4Of(groups: AddressGroups): string {
  return groups
    .slice(6)
    .flatMap((group) => [group >> 8, group & 0xff])
    .join('.');
}
