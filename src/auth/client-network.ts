import { isIPv6 } from 'node:net';

const IPV4_MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
const GROUPS = 8;
const GROUPS_OF_A_CUSTOMER = 4;

/**
 * Whom attempts are counted against: an IPv4 address, or the 64 bits of an IPv6 address that one customer has, who would
 * else have 2^64 addresses to try from.
 *
 * @param address as Express gives it, which knows the proxies in front.
 */
export function networkOf(address = ''): string {
  const bare = address.split('%', 1)[0] ?? '';
  const mapped = IPV4_MAPPED.exec(bare)?.[1];
  if (mapped !== undefined || !isIPv6(bare)) return mapped ?? bare;
  const [head = '', tail] = bare.split('::');
  const before = groupsOf(head);
  const after = tail === undefined ? [] : groupsOf(tail);
  // A last part in IPv4 notation stands for two groups, none of them among those that are kept.
  const zeros = Array.from({ length: GROUPS - before.length - after.length }, () => '0');
  const kept = [...before, ...zeros, ...after].slice(0, GROUPS_OF_A_CUSTOMER);
  return `${kept.map((group) => parseInt(group, 16).toString(16)).join(':')}::/64`;
}

function groupsOf(text: string): string[] {
  return text === '' ? [] : text.split(':').flatMap((group) => (group.includes('.') ? ['0', '0'] : [group]));
}
