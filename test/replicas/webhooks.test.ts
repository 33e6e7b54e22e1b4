import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stream } from '../support/sse-client.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';
import { Replicas } from './support/replicas.js';
import { sharedStores } from './support/stores.js';

const stores = await sharedStores();

/** Each is reported twice, and a network may send 60 reports a minute. */
const KEYS = 25;
const USAGE = `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 20 } })}\n\n`;

if (stores !== undefined) {
  describe('webhooks of three replicas', () => {
    let replicas: Replicas;
    let hook: WebhookReceiver;

    beforeAll(async () => {
      hook = await WebhookReceiver.start();
      replicas = await Replicas.start(stores, {
        tiers: { free: {}, company: { budget: { amount: 1, per: 'month' }, max_tokens: 20 } },
        price: { input_per_million: 1_000, output_per_million: 2_000 },
        webhooks: { portal: hook.entry },
      });
      replicas.provider.answers((call) => {
        call.head().text('Hi').finish().write(USAGE).endMarker().end();
      });
    }, 180_000);
    afterAll(async () => {
      await replicas.stop();
      await hook.stop();
      await stores.redis.drop();
    }, 60_000);

    const leak = async (key: string, n: number) => {
      const response = await fetch(`${replicas.origins[n % replicas.origins.length]}/api/v1/keys/leaked`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify([{ token: key }]),
      });
      expect(response.status).toBe(200);
    };
    const idsOf = (type: string) =>
      hook.requests
        .filter((_, index) => hook.events[index]?.type === type)
        .map(({ headers }) => String(headers['webhook-id']));

    it('send each event once, whichever replica has found it', async () => {
      const keys = [];
      for (let n = 0; n < KEYS; n++) keys.push(await replicas.createKey());
      await Promise.all(keys.flatMap(({ key }, n) => [leak(key, n), leak(key, n + 1)]));
      await expect.poll(() => new Set(idsOf('key.leaked')).size).toBe(KEYS);
      expect(idsOf('key.leaked')).toHaveLength(KEYS);
    }, 60_000);

    it('report a budget that all replicas use up while Redis is unavailable, once for each threshold', async () => {
      const { key } = await replicas.createKey('company');
      const sendSome = () =>
        Promise.all(replicas.origins.map(async (origin) => (await stream(origin, { key })).status));
      await sendSome();
      replicas.redis.cut();
      while (!(await sendSome()).includes(429));
      await expect
        .poll(
          () =>
            hook.events
              .map(({ type }) => type)
              .filter((type) => type.startsWith('budget.'))
              .sort(),
          {
            timeout: 30_000,
          },
        )
        .toEqual(['budget.exceeded', 'budget.warning']);
      replicas.redis.restore();
    }, 60_000);
  });
}
