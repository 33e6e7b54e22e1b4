import { parseAddressRange, type AddressRange } from '../common/network/ip-address.js';
import type { ConfigFile } from './sources/config-file.js';
import { interpolate, type Variables } from './sources/interpolation.js';

/** The events that the service sends to webhooks. */
export const WEBHOOK_EVENTS = ['budget.warning', 'budget.exceeded', 'key.expiring', 'key.leaked'] as const;

export type WebhookEventType = (typeof WEBHOOK_EVENTS)[number];

/** A receiver of events. */
export interface WebhookConfig {
  readonly name: string;
  readonly url: URL;
  /** The key of the signatures. */
  readonly secret: Buffer;
  readonly events: readonly WebhookEventType[];
  /** The addresses that are not public and to which the service may connect anyway. */
  readonly allowedNetworks: readonly AddressRange[];
}

type WebhookEntry = ConfigFile['webhooks'][string];

/** The prefix of a secret, as Standard Webhooks defines it. */
const SECRET = /^whsec_([A-Za-z0-9+/]+={0,2})$/;
const MIN_SECRET_BYTES = 24;
const MAX_SECRET_BYTES = 64;

/**
 * Converts the entry of a webhook.
 *
 * @returns the webhook, or what is invalid, with the path inside the entry and never with a value.
 */
export function webhookOf(
  name: string,
  entry: WebhookEntry,
  variables: Variables,
): { readonly webhook?: WebhookConfig; readonly problems: readonly string[] } {
  const problems: string[] = [];
  const fill = (member: 'url' | 'secret'): string | undefined => {
    const { text, missing } = interpolate(entry[member], variables);
    problems.push(...missing.map((variable) => `${member}: the variable ${variable} is unset`));
    return missing.length === 0 ? text : undefined;
  };
  const [url, secret] = [fill('url'), fill('secret')];
  const bytes = Buffer.from(SECRET.exec(secret ?? '')?.[1] ?? '', 'base64');
  const ranges = entry.allowed_networks.map(parseAddressRange);
  if (url !== undefined && !isUrl(url)) problems.push('url: must be a URL https://… or http://… without a password');
  if (secret !== undefined && (bytes.length < MIN_SECRET_BYTES || bytes.length > MAX_SECRET_BYTES)) {
    problems.push(`secret: must be whsec_ and ${MIN_SECRET_BYTES} to ${MAX_SECRET_BYTES} random bytes in Base64`);
  }
  if (ranges.includes(undefined)) problems.push('allowed_networks: must contain only IP addresses and CIDR ranges');
  if (problems.length > 0 || url === undefined) return { problems };
  return {
    webhook: {
      name,
      url: new URL(url),
      secret: bytes,
      events: entry.events,
      allowedNetworks: ranges.filter((range) => range !== undefined),
    },
    problems: [],
  };
}

function isUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}
