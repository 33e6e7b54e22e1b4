import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ListedDelivery } from '../../../src/plugin-api/webhook-log.js';
import { WebhookDeliveries } from '../../../src/plugins/webhooks/webhook-deliveries.js';
import { startService, type RunningService } from '../../support/service.js';
import { waitFor } from '../../support/wait-for.js';
import { WebhookReceiver } from '../../support/webhook-receiver.js';

/** Ways to write the address of this machine. */
const FORMS: Readonly<Record<string, string>> = {
  'an address': '127.0.0.1',
  'a name': 'localhost',
  'an IPv4 address inside of an IPv6 one': '[::ffff:127.0.0.1]',
  'an IPv4-compatible address': '[::127.0.0.1]',
  'a NAT64 address': '[64:ff9b::127.0.0.1]',
  'a NAT64 address of a local network': '[64:ff9b:1::7f00:1]',
  'an IPv4-translated address': '[::ffff:0:127.0.0.1]',
  'a 6to4 address': '[2002:7f00:1::1]',
  'a Teredo address': '[2001:0:7f00:1::1]',
  'an unassigned address': '[4000::1]',
  'a number': '2130706433',
};
const nameOf = (form: string): string => form.replaceAll(' ', '-').toLowerCase();

describe('webhooks are not sent to this machine unless it is allowed', () => {
  let hook: WebhookReceiver;
  let service: RunningService;
  let deliveries: readonly ListedDelivery[];

  beforeAll(async () => {
    hook = await WebhookReceiver.start();
    const webhooks = Object.entries(FORMS).map(([form, host]) => [
      nameOf(form),
      { ...hook.entry, url: hook.url.replace('127.0.0.1', host), allowed_networks: ['10.0.0.0/8'] },
    ]);
    service = await startService({ webhooks: Object.fromEntries(webhooks) as Record<string, object> });
    const { key } = await service.createKey();
    await fetch(`${service.origin}/api/v1/keys/leaked`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify([{ token: key, type: 'chat_key', url: 'https://example.com/leak' }]),
    });
    const all = service.app.get(WebhookDeliveries, { strict: false });
    await waitFor(async () => {
      deliveries = (await all.list(undefined, 50)).rows;
      return deliveries.filter((delivery) => delivery.last_error !== null).length === webhooks.length;
    }, 'an attempt at each address');
  });
  afterAll(async () => {
    await service.stop();
    await hook.stop();
  });

  it.each(Object.keys(FORMS))('at %s', (form) => {
    expect(deliveries.find(({ webhook }) => webhook === nameOf(form))).toMatchObject({
      attempts: 1,
      last_error: 'The address is not public, and not in allowed_networks.',
    });
    expect(hook.requests).toEqual([]);
  });
});
