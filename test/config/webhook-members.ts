import { expect } from 'vitest';
import { WEBHOOK_SECRET, WebhookReceiver } from '../support/webhook-receiver.js';
import { serving, type Effects } from './effect.js';

const REQUIRED = () => Promise.resolve();
const NEVER = 'must be whsec_ and 24 to 64 random bytes in Base64';

/** The members of a webhook: a receiver gets a signed event, or none. */
export const webhookMembers: Effects = {
  'webhooks.<name>.url': {
    set: () => reports({}, 1),
    unset: REQUIRED,
    refused: [
      ['ftp://portal', 'must be a URL https://… or http://… without a password'],
      ['https://user:secret@portal', 'must be a URL https://… or http://… without a password'],
      ['https://${PORTAL_HOST}', 'the variable PORTAL_HOST is unset'],
      [undefined, 'expected string'],
    ],
  },
  'webhooks.<name>.secret': {
    // The receiver refuses other signatures.
    set: () => reports({ secret: WEBHOOK_SECRET }, 1),
    unset: REQUIRED,
    refused: [
      ['secret', NEVER],
      ['whsec_c2hvcnQ=', NEVER],
      ['${PORTAL_SECRET}', 'the variable PORTAL_SECRET is unset'],
      [undefined, 'expected string'],
    ],
  },
  'webhooks.<name>.events': {
    set: () => reports({ events: ['key.expiring'] }, 0),
    unset: () => reports({}, 1),
    refused: [
      ['key.leaked', 'expected array'],
      [[], '>=1 items'],
    ],
  },
  'webhooks.<name>.allowed_networks': {
    set: () => reports({ allowed_networks: ['127.0.0.1'] }, 1),
    unset: () => reports({ allowed_networks: undefined }, 0),
    refused: [[['127.0.0.0/40'], 'must contain only IP addresses and CIDR ranges']],
  },
};

/** Reports a leaked key to two webhooks. The second one gets the event in any case. */
async function reports(members: object, count: number): Promise<void> {
  const [hook, other] = [await WebhookReceiver.start(), await WebhookReceiver.start()];
  const webhooks = { portal: { ...hook.entry, ...members }, other: other.entry };
  try {
    await serving({ webhooks }, async ({ origin, key }) => {
      const body = JSON.stringify([{ token: key }]);
      const headers = { 'Content-Type': 'application/json' };
      expect((await fetch(`${origin}/api/v1/keys/leaked`, { method: 'POST', headers, body })).status).toBe(200);
      await expect.poll(() => other.events).toHaveLength(1);
      await expect.poll(() => hook.events).toHaveLength(count);
    });
  } finally {
    await Promise.all([hook.stop(), other.stop()]);
  }
}
