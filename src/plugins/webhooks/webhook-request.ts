import ipaddr from 'ipaddr.js';
import { createHmac } from 'node:crypto';
import { lookup, type LookupAddress, type LookupOptions } from 'node:dns';
import { isIP } from 'node:net';
import { Agent, buildConnector, request } from 'undici';
import {
  type AddressRange,
  type IpAddress,
  isWithin,
  readAddress,
  realMs,
  timeoutSignal,
} from '../../plugin-api/core/common.js';
import type { WebhookConfig } from '../../plugin-api/core/config.js';

/** All public IPv6 addresses (RFC 4291). In particular, not `::/96`: such an address can hold a private IPv4 address. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Whether a webhook may connect to the address: to every public address, and to the allowed networks. Private, loopback,
 * link-local, multicast and reserved addresses are not public, and neither are 6to4 and Teredo addresses. `readAddress` returns the
 * IPv4 address of an IPv4-mapped address and of NAT64.
 */
function mayConnectTo(address: string, allowed: readonly AddressRange[]): boolean {
  return isPublic(readAddress(address)) || isWithin(allowed, address);
}

function isPublic(address: IpAddress | undefined): boolean {
  if (address?.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST);
}

/** The time limit of an attempt, from the lookup of the name to the status of the answer. */
const TIMEOUT_MS = 10_000;
const MAX_HEADER_BYTES = 16 * 1024;

class AddressNotAllowed extends Error {
  constructor() {
    super('The address is not public, and not in allowed_networks.');
    this.name = 'AddressNotAllowed';
  }
}

/**
 * Sends a body to the receiver, over a new connection. Redirects are not followed, and the body of the answer is not read.
 *
 * @returns the status of the answer.
 * @throws when there is no answer in time, or the name of the receiver has no address that is allowed.
 */
export async function postTo(
  { url, allowedNetworks }: WebhookConfig,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<number> {
  const agent = new Agent({ connect: checkedConnector(allowedNetworks), maxHeaderSize: MAX_HEADER_BYTES });
  try {
    const signal = timeoutSignal(TIMEOUT_MS);
    const answer = await request(url, { method: 'POST', headers, body, dispatcher: agent, signal });
    answer.body.on('error', () => undefined).destroy();
    return answer.statusCode;
  } finally {
    await agent.destroy();
  }
}

/** Connects only to addresses that are allowed. The address is checked after the lookup, so a name cannot change in between. */
function checkedConnector(allowed: readonly AddressRange[]): buildConnector.connector {
  const connect = buildConnector({
    timeout: realMs(TIMEOUT_MS),
    lookup: (name: string, options: LookupOptions, callback: LookupCallback) => {
      lookup(name, { ...options, all: true }, (error, addresses) => {
        const usable = error === null ? addresses.filter(({ address }) => mayConnectTo(address, allowed)) : [];
        const [first] = usable;
        if (first === undefined) callback(error ?? new AddressNotAllowed(), '');
        else if (options.all === true) callback(null, usable);
        else callback(null, first.address, first.family);
      });
    },
  });
  return (options, callback) => {
    // A connection to an address needs no lookup.
    const address = options.hostname.replace(/^\[(.*)\]$/, '$1');
    if (isIP(address) !== 0 && !mayConnectTo(address, allowed)) callback(new AddressNotAllowed(), null);
    else connect(options, callback);
  };
}

type LookupCallback = (error: Error | null, address: string | LookupAddress[], family?: number) => void;

/**
 * Returns the headers with which a receiver checks an event, as Standard Webhooks defines them: the HMAC-SHA256 of the id, the time
 * and the body.
 *
 * @param sentAt in milliseconds since 1970.
 */
export function signedHeaders(secret: Buffer, id: string, sentAt: number, body: string): Record<string, string> {
  const timestamp = String(Math.floor(sentAt / 1000));
  const signature = createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}
