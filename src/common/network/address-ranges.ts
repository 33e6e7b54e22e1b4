import ipaddr from 'ipaddr.js';
import { isIP } from 'node:net';
import { readAddress, type IpAddress } from './ip-address.js';

/** The first address of a range, and the number of bits that all its addresses share. */
export type AddressRange = readonly [first: IpAddress, bits: number];

const RANGE = /^([\d.:a-f]{2,45})(?:\/(\d{1,3}))?$/i;
/** How many bits of an IPv4-mapped IPv6 address come before the IPv4 address. */
const MAPPED_BITS = 96;

/** Reads an IP address or a CIDR range. Returns `undefined` for another text. */
export function parseAddressRange(text: string): AddressRange | undefined {
  const [, address = '', length] = RANGE.exec(text) ?? [];
  const version = isIP(address);
  if (version === 0) return undefined;
  const parsed = ipaddr.parse(address);
  const most = version === 4 ? 32 : 128;
  const bits = length === undefined ? most : Number(length);
  if (bits > most) return undefined;
  const isMapped = parsed instanceof ipaddr.IPv6 && parsed.isIPv4MappedAddress() && bits >= MAPPED_BITS;
  return isMapped ? [parsed.toIPv4Address(), bits - MAPPED_BITS] : [parsed, bits];
}

/**
 * Whether one of the ranges contains the address.
 *
 * @param address as a socket or a proxy writes it. An unreadable address is in no range.
 */
export function isWithin(ranges: readonly AddressRange[], address: string): boolean {
  const read = readAddress(address);
  if (read === undefined) return false;
  return ranges.some(([first, bits]) => first.kind() === read.kind() && read.match(first, bits));
}
