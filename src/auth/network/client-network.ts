import ipaddr from 'ipaddr.js';
import { isIP } from 'node:net';

/** The shared network of all clients without a valid address. So a client cannot get new networks by inventing names. */
export const NO_NETWORK = 'unknown';

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

function prefixOf(text: string, groups: number): string {
  const address = readAddress(text);
  if (address === undefined) return NO_NETWORK;
  if (address instanceof ipaddr.IPv4) return address.toString();
  const kept = address.parts.slice(0, groups).map((group) => group.toString(16));
  return `${kept.join(':')}::/${groups * 16}`;
}

/**
 * Reads one address in the forms that sockets and proxies write: with or without port, brackets, quotes, zone and spaces.
 * Covers the node names of RFC 7239 and the values that gateways put into `X-Forwarded-For`.
 *
 * @returns `undefined` for everything else, such as `unknown`, `_hidden` or an empty text.
 */
function readAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
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
function parse(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  const [address = ''] = text.split('%', 1);
  // The parser of the package also accepts octal, hexadecimal and shortened IPv4 addresses.
  const version = isIP(address);
  if (version === 0) return undefined;
  if (version === 4) return ipaddr.IPv4.parse(address);
  const parsed = ipaddr.IPv6.parse(address);
  if (!parsed.isIPv4MappedAddress() && !parsed.match(NAT64)) return parsed;
  return ipaddr.fromByteArray(parsed.toByteArray().slice(-IPV4_BYTES));
}
