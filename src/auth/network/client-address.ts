import { isIP } from 'node:net';

/** Longer than any address with its port, brackets, quotes and zone. Longer texts are not parsed. */
const MAX_LENGTH = 100;
const QUOTED = /^"([^"]*)"$/;
const BRACKETED = /^\[([^\]]*)\](?::.*)?$/;
/** A port, or the obfuscated port of RFC 7239 (section 6.3). */
const PORT = /:(?:\d{1,5}|_[\w.-]+)$/;

/** An address as the eight 16-bit groups of IPv6. An IPv4 address has the form `::ffff:a.b.c.d`. */
export type AddressGroups = readonly number[];

/**
 * Parses one address in the forms that sockets and proxies write: IPv4 or IPv6, with or without port, brackets, quotes,
 * zone and spaces. Covers the node names of RFC 7239 and the values that gateways put into `X-Forwarded-For`.
 *
 * @returns `undefined` for everything else, such as `unknown`, `_hidden` or an empty text.
 */
export function parseAddress(text: string): AddressGroups | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const unquoted = unwrap(text, QUOTED);
  const address = unwrap(unquoted, BRACKETED);
  // An IPv6 address without brackets can look like one with a port, so the whole text is tried first.
  return groupsOf(address) ?? groupsOf(address.replace(PORT, ''));
}

/** The text between the marks, or the text itself when it has none. */
function unwrap(text: string, marks: RegExp): string {
  const trimmed = text.trim();
  return (marks.exec(trimmed)?.[1] ?? trimmed).trim();
}

function groupsOf(text: string): AddressGroups | undefined {
  const [address = ''] = text.split('%', 1);
  switch (isIP(address)) {
    case 4:
      return [0, 0, 0, 0, 0, 0xffff, ...groupsOfIPv4(address)];
    case 6:
      return groupsOfIPv6(address);
    default:
      return undefined;
  }
}

function groupsOfIPv6(address: string): number[] {
  const [head = '', tail] = address.split('::');
  const before = groupsIn(head);
  const after = tail === undefined ? [] : groupsIn(tail);
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => 0);
  return [...before, ...zeros, ...after];
}

function groupsIn(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((part) => (part.includes('.') ? groupsOfIPv4(part) : [parseInt(part, 16)]));
}

function groupsOfIPv4(address: string): [number, number] {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
  return [a * 256 + b, c * 256 + d];
}
