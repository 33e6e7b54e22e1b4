import ipaddr from 'ipaddr.js';
import { isIP } from 'node:net';

export type IpAddress = ipaddr.IPv4 | ipaddr.IPv6;

/** Longer than any address with its port, brackets, quotes and zone. Longer texts are not parsed. */
const MAX_LENGTH = 100;
const QUOTED = /^"([^"]*)"$/;
const BRACKETED = /^\[([^\]]*)\](?::.*)?$/;
/** A port, or the obfuscated port of RFC 7239 (section 6.3). */
const PORT = /:(?:\d{1,5}|_[\w.-]+)$/;
/** NAT64 (RFC 6052): the last four bytes of such an IPv6 address are the IPv4 address. */
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');
const IPV4_BYTES = 4;

/**
 * Reads one address in the forms that sockets and proxies write: with or without port, brackets, quotes, zone and spaces.
 * Covers the node names of RFC 7239 and the values that gateways put into `X-Forwarded-For`.
 *
 * @returns `undefined` for everything else, such as `unknown`, `_hidden` or an empty text.
 */
export function readAddress(text: string): IpAddress | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const address = unwrap(unwrap(text, QUOTED), BRACKETED);
  // An IPv6 address without brackets can look like one with a port, so the whole text is tried first.
  return parse(address) ?? parse(address.replace(PORT, ''));
}

/** The text between the marks, or the text itself when it has none. */
function unwrap(text: string, marks: RegExp): string {
  const trimmed = text.trim();
  return (marks.exec(trimmed)?.[1] ?? trimmed).trim();
}

/** Returns the IPv4 address for the IPv6 addresses that hold one: IPv4-mapped, and NAT64. */
function parse(text: string): IpAddress | undefined {
  const [address = ''] = text.split('%', 1);
  // The parser of the package also accepts octal, hexadecimal and shortened IPv4 addresses.
  const version = isIP(address);
  if (version === 0) return undefined;
  if (version === 4) return ipaddr.IPv4.parse(address);
  const parsed = ipaddr.IPv6.parse(address);
  if (!parsed.isIPv4MappedAddress() && !parsed.match(NAT64)) return parsed;
  return ipaddr.fromByteArray(parsed.toByteArray().slice(-IPV4_BYTES));
}

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
