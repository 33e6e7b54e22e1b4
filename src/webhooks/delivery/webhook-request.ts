import { lookup, type LookupAddress, type LookupOptions } from 'node:dns';
import { isIP } from 'node:net';
import { Agent, buildConnector, request } from 'undici';
import type { AddressRange } from '../../common/network/address-ranges.js';
import type { WebhookConfig } from '../../config/config.js';
import { mayConnectTo } from './public-address.js';

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
    const signal = AbortSignal.timeout(TIMEOUT_MS);
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
    timeout: TIMEOUT_MS,
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
