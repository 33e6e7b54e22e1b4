import { DataSource } from 'typeorm';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { AccountsService } from '../../../src/accounts/accounts/accounts.service.js';
import { AccountStates } from '../../../src/accounts/accounts/account-states.js';
import { ApiKeysService } from '../../../src/accounts/api-keys/api-keys.service.js';
import { OperatorKeys } from '../../../src/accounts/operator-keys/operator-keys.service.js';
import { ExpiringKeys } from '../../../src/accounts/api-keys/expiring-keys.js';
import { BudgetChecks } from '../../../src/usage/budgets/budget-checks.js';
import { WebhookOutbox } from '../../../src/platform/outbox/webhook-outbox.js';
import type { ListedDelivery } from '../../../src/plugin-api/webhook-log.js';
import { WebhookDeliveries } from '../../../src/plugins/webhooks/webhook-deliveries.js';
import { operatorSignedIn, signedIn } from '../../support/account-session.js';
import { browserOf } from '../../support/as-browser.js';
import { routesTo } from '../../support/catalog.js';
import { testEngines, urlOf, type TestDatabase } from '../../support/database.js';
import { stream } from '../../support/sse-client.js';
import { setStage, type Stage } from '../../support/stage.js';
import { WebhookReceiver } from '../../support/webhook-receiver.js';

/** 10 + 20 tokens cost 0.01 + 0.04. */
const PRICE = { input_per_million: 1_000, output_per_million: 2_000 };
const USAGE = `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 20 } })}\n\n`;
const DAY_MS = 86_400_000;

describe.each(await testEngines())('webhooks on $name', (engine) => {
  let stage: Stage | undefined;
  let database: TestDatabase | undefined;
  const receivers: WebhookReceiver[] = [];
  const clear = async () => {
    await Promise.all(receivers.splice(0).map((receiver) => receiver.stop()));
    await stage?.clear();
    await database?.drop();
  };

  const receiver = async () => {
    const started = await WebhookReceiver.start();
    receivers.push(started);
    return started;
  };
  const start = async (webhooks: Readonly<Record<string, object>>): Promise<Stage> => {
    database = await engine.create();
    const url = urlOf(database);
    stage = await setStage(1, {
      catalog: (providers) => routesTo(providers, {}, PRICE),
      tiers: { free: {}, company: { budget: { amount: 1, per: 'month' }, max_tokens: 20 } },
      env: { DATABASE_URL: url },
      webhooks,
    });
    stage.provider.answers((call) => {
      call.head().text('Hi').finish().write(USAGE).endMarker().end();
    });
    return stage;
  };
  const inService = <T>(type: new (...parameters: never[]) => T): T =>
    (stage as Stage).service.app.get(type, { strict: false });
  const deliveries = async (): Promise<readonly ListedDelivery[]> =>
    (await inService(WebhookDeliveries).list(undefined, 50)).rows;
  /** Looks for what is due now, and not at the next poll in at most two seconds. */
  const poll = () => {
    inService(WebhookOutbox).notify();
  };
  const sendAgain = async () => {
    await inService(WebhookDeliveries).sendAgain((await deliveries())[0]?.id ?? '');
    poll();
  };
  /** The seconds to the next attempt. */
  const wait = async () => {
    const [delivery] = await deliveries();
    return delivery?.next_attempt_at == null ? undefined : (Date.parse(delivery.next_attempt_at) - Date.now()) / 1_000;
  };
  const leak = async (key: string, url = 'https://example.com/leak') => {
    const response = await fetch(`${(stage as Stage).origin}/api/v1/keys/leaked`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify([{ token: key, type: 'chat_key', url }]),
    });
    expect(response.status).toBe(200);
  };

  describe('of one configuration', () => {
    let hook: WebhookReceiver;

    beforeAll(async () => {
      hook = await receiver();
      await start({ portal: hook.entry });
    });
    afterEach(async () => {
      hook.requests.length = 0;
      hook.status = 204;
      await inService(DataSource).query('DELETE FROM webhook_deliveries');
    });
    afterAll(clear);

    it('report a leaked operator key, which has no account', async () => {
      const created = await inService(OperatorKeys).create({ name: 'terraform', scope: 'read' });

      await leak(created.key);

      await expect
        .poll(() => hook.events)
        .toMatchObject([
          {
            type: 'key.leaked',
            data: { account: null, key: { id: created.id, name: 'terraform', prefix: created.prefix } },
          },
        ]);
    });

    it('report a leaked key once, signed, with ids and names, and without the key', async () => {
      const { service } = stage as Stage;
      const { id, key } = await service.createKey({ email: 'ada@example.com' });
      const account = await inService(AccountsService).findByEmail('ada@example.com');

      await leak(key);
      await leak(key);

      await expect.poll(() => hook.events).toHaveLength(1);
      expect(hook.events).toEqual([
        {
          type: 'key.leaked',
          timestamp: expect.stringMatching(/^\d{4}-.*Z$/) as string,
          data: {
            account: { id: account?.id, email: 'ada@example.com' },
            key: { id, name: 'test', prefix: key.slice(0, 12) },
            url: 'https://example.com/leak',
          },
        },
      ]);
      const [request] = hook.requests;
      expect(request?.headers).toMatchObject({
        'content-type': 'application/json',
        'webhook-id': expect.stringMatching(/^evt_/) as string,
      });
      expect(request?.body).not.toContain(key);
      await expect
        .poll(deliveries)
        .toMatchObject([{ webhook: 'portal', attempts: 1, last_error: null, next_attempt_at: null }]);
    });

    it('are retried with the same id after a failure, and do not follow a redirect', async () => {
      const { service } = stage as Stage;
      hook.status = 302;
      const begunAt = Date.now();
      await leak((await service.createKey()).key);
      await expect
        .poll(deliveries)
        .toMatchObject([{ attempts: 1, last_error: 'The receiver answered 302.', delivered_at: null }]);
      const [first] = await deliveries();
      const nextAt = Date.parse(first?.next_attempt_at ?? '');
      expect(nextAt - begunAt).toBeGreaterThan(5_000);
      expect(nextAt - Date.now()).toBeLessThan(12_000);

      hook.status = 204;
      await sendAgain();
      await expect.poll(deliveries).toMatchObject([{ last_error: null, next_attempt_at: null }]);
      const ids = hook.requests.map(({ headers }) => headers['webhook-id']);
      expect(ids).toHaveLength(2);
      expect(new Set(ids).size).toBe(1);
    });

    it('wait three times as long after each failure, at most 6 hours', async () => {
      const { service } = stage as Stage;
      hook.status = 500;
      await leak((await service.createKey()).key);
      await expect.poll(wait).toBeLessThan(13);
      for (const [attempts, seconds] of [
        [2, 90],
        [3, 270],
        [15, 6 * 3_600],
      ] as const) {
        const due = new Date().toISOString();
        const again = `attempts = ${attempts}, next_attempt_at = '${due}'`;
        await inService(DataSource).query(`UPDATE webhook_deliveries SET ${again}`);
        poll();
        // Waits are spread over a fifth before and after.
        await expect.poll(wait).toBeGreaterThan(seconds * 0.8 - 10);
        expect(await wait()).toBeLessThan(seconds * 1.2);
      }
    });

    it('are given up three days after the event, or after they were sent again', async () => {
      const { service } = stage as Stage;
      hook.status = 500;
      await leak((await service.createKey()).key);
      await expect.poll(wait).toBeLessThan(13);
      const database = inService(DataSource);
      const [row] = await database.query<{ created_at: string; give_up_at: string }[]>(
        'SELECT created_at, give_up_at FROM webhook_deliveries',
      );
      expect(Date.parse(row?.give_up_at ?? '') - Date.parse(row?.created_at ?? '')).toBe(3 * DAY_MS);

      // The next wait is at least 24 seconds.
      const [now, end] = [0, 5_000].map((ms) => new Date(Date.now() + ms).toISOString());
      await database.query(`UPDATE webhook_deliveries SET next_attempt_at = '${now}', give_up_at = '${end}'`);
      poll();
      await expect.poll(deliveries).toMatchObject([{ attempts: 2, next_attempt_at: null, delivered_at: null }]);

      await sendAgain();
      await expect.poll(() => hook.requests).toHaveLength(3);
      await expect.poll(wait).toBeLessThan(13);
    });

    it('are kept for 40 days, so that the same event is not sent again, and then deleted', async () => {
      const { key } = await (stage as Stage).service.createKey();
      await leak(key);
      await expect.poll(() => hook.events).toHaveLength(1);
      await expect.poll(deliveries).toMatchObject([{ delivered_at: expect.any(String) as unknown }]);
      const aged = async (days: number) => {
        const createdAt = new Date(Date.now() - days * DAY_MS).toISOString();
        await inService(DataSource).query(`UPDATE webhook_deliveries SET created_at = '${createdAt}'`);
        await inService(WebhookDeliveries).deleteOld();
        return (await deliveries()).length;
      };
      expect([await aged(1), await aged(31), await aged(39.9)]).toEqual([1, 1, 1]);
      expect(await aged(40.1)).toBe(0);
    });

    it('name no address and no key of an account that was deleted before they are sent', async () => {
      const { service } = stage as Stage;
      hook.status = 500;
      await leak((await service.createKey({ email: 'gone@example.com' })).key);
      await expect.poll(deliveries).toMatchObject([{ attempts: 1, last_error: 'The receiver answered 500.' }]);
      await inService(AccountStates).delete('gone@example.com');
      await sendAgain();
      await expect.poll(() => hook.events).toHaveLength(2);
      expect(hook.events[1]?.data).toMatchObject({ account: { email: null }, key: { name: null, prefix: null } });
    });

    it('are on a page of operators, who can send an event again', async () => {
      const { service, origin } = stage as Stage;
      const session = await operatorSignedIn(service);
      const [operator, { accountId }] = [browserOf(origin, session), session];
      hook.status = 503;
      await leak((await service.createKey({ email: 'ada@example.com' })).key);
      await expect.poll(deliveries).toMatchObject([{ attempts: 1, last_error: 'The receiver answered 503.' }]);

      const html = (await (await operator.get('/operator/webhooks')).body()).replaceAll('<wbr/>', '');
      for (const shown of ['key.leaked', 'ada@example.com', 'portal', 'Retrying', 'The receiver answered 503.']) {
        expect(html).toContain(shown);
      }
      hook.status = 204;
      const action = /action="(\/operator\/webhooks\/[^"]+\/send)"/.exec(html)?.[1] ?? '';
      const answer = await operator.post(action, { account_id: accountId });
      expect(answer.status).toBe(303);
      await expect.poll(async () => (await operator.get('/operator/webhooks')).body()).toContain('Delivered');
      expect((await operator.post('/operator/webhooks/none/send', { account_id: accountId })).status).toBe(404);
      expect((await browserOf(origin, await signedIn(service)).get('/operator/webhooks')).status).toBe(404);
    });
  });

  describe('of a configuration or a budget of their own', () => {
    afterEach(clear);

    it('report a budget at 80 % and when it is used up, each once for all streams of the period', async () => {
      const hook = await receiver();
      const { service, origin } = await start({ portal: hook.entry });
      const { key } = await service.createKey({ tier: 'company' });
      let last = 200;
      for (let sent = 0; last === 200; sent++) {
        last = (await stream(origin, { key })).status;
        if (sent === 14) expect(hook.events).toEqual([]);
      }
      expect(last).toBe(429);
      expect((await stream(origin, { key })).status).toBe(429);

      await expect
        .poll(() => hook.events.map(({ type }) => type).sort())
        .toEqual(['budget.exceeded', 'budget.warning']);
      const budgets = hook.events.map(({ data }) => data['budget'] as { spent: number });
      for (const budget of budgets) {
        expect(budget).toMatchObject({ amount: 1, currency: 'USD', per: 'month' });
        expect(budget.spent).toBeGreaterThanOrEqual(0.8);
        expect(budget.spent).toBeLessThanOrEqual(1);
      }
      await inService(BudgetChecks).check();
      expect(await deliveries()).toHaveLength(2);
    });

    it('report the budget of a key, with the key', async () => {
      const hook = await receiver();
      const { service, origin } = await start({ portal: { ...hook.entry, events: ['budget.warning'] } });
      const { id, key } = await service.createKey();
      await inService(ApiKeysService).update(id, { limits: { budgetMicros: 100_000, budgetPer: 'day' } });
      await stream(origin, { key, body: { max_tokens: 20 } });
      await inService(ApiKeysService).update(id, { limits: { budgetMicros: 60_000 } });

      await expect
        .poll(async () => {
          await inService(BudgetChecks).check();
          return hook.events;
        })
        .toMatchObject([
          { type: 'budget.warning', data: { key: { id }, budget: { amount: 0.06, spent: 0.05, per: 'day' } } },
        ]);
    });

    it('report a budget that the process could not report before it was killed', async () => {
      const hook = await receiver();
      const { service, origin } = await start({ portal: hook.entry });
      const { id, key } = await service.createKey();
      await stream(origin, { key, body: { max_tokens: 20 } });
      // No stream with this budget ends in this process.
      await inService(ApiKeysService).update(id, { limits: { budgetMicros: 50_000 } });
      await expect
        .poll(async () => {
          await inService(BudgetChecks).check();
          return hook.events.map(({ type }) => type).sort();
        })
        .toEqual(['budget.exceeded', 'budget.warning']);
    });

    it('do not report a budget because of a request that needs more than all of it, nor of a key that is revoked', async () => {
      const hook = await receiver();
      const { service, origin } = await start({ portal: hook.entry });
      const { key } = await service.createKey({ tier: 'company' });
      const content = 'word '.repeat(3_000);
      const refused = await stream(origin, { key, body: { messages: [{ role: 'user', content }] } });
      expect((await refused.error()).code).toBe('budget_exceeded');

      const revoked = await service.createKey();
      await stream(origin, { key: revoked.key, body: { max_tokens: 20 } });
      await expect.poll(() => inService(DataSource).query('SELECT id FROM usage_records')).toHaveLength(1);
      await inService(ApiKeysService).update(revoked.id, { limits: { budgetMicros: 1, budgetPer: 'day' } });
      await inService(ApiKeysService).revoke(revoked.id);
      await inService(BudgetChecks).check();
      expect(await deliveries()).toEqual([]);
    });

    it('report keys that expire within seven days, once for each expiry date', async () => {
      const hook = await receiver();
      const { service } = await start({ portal: hook.entry });
      const soon = await service.createKey({ expiresAt: new Date(Date.now() + 6 * DAY_MS) });
      await service.createKey({ expiresAt: new Date(Date.now() + 8 * DAY_MS) });
      const revoked = await service.createKey({ expiresAt: new Date(Date.now() + 6 * DAY_MS) });
      await inService(ApiKeysService).revoke(revoked.id);
      const expiring = inService(ExpiringKeys);

      await expiring.report();
      await expiring.report();
      await expect.poll(() => hook.events).toMatchObject([{ type: 'key.expiring', data: { key: { id: soon.id } } }]);

      await inService(ApiKeysService).update(soon.id, { expiresAt: new Date(Date.now() + 5 * DAY_MS) });
      await expiring.report();
      await expect.poll(() => hook.events).toHaveLength(2);
      expect(await deliveries()).toHaveLength(2);
    });

    it('get only the events that they have subscribed to, and nothing is stored without a subscriber', async () => {
      const hook = await receiver();
      const { service } = await start({ budgets: { ...hook.entry, events: ['budget.warning'] } });
      await leak((await service.createKey()).key);
      expect(await deliveries()).toEqual([]);
    });

    it('belong to one process for 30 seconds, and to another one then, because the process may be killed', async () => {
      const hook = await receiver();
      const { service } = await start({ portal: hook.entry });
      hook.status = undefined;
      await leak((await service.createKey()).key);
      await expect.poll(() => hook.requests).toHaveLength(1);
      const claimIn = (seconds: number) =>
        new WebhookDeliveries(inService(DataSource), () => Date.now() + seconds * 1_000).claim('portal', 5);
      // An attempt of the first process can take 10 seconds.
      expect(await claimIn(20)).toEqual([]);
      expect(await claimIn(30)).toMatchObject([{ type: 'key.leaked', attempts: 2 }]);
      expect(await claimIn(30)).toEqual([]);
    });

    it('do not wait for a receiver that does not answer', async () => {
      const [silent, other] = [await receiver(), await receiver()];
      silent.status = undefined;
      const { service } = await start({ silent: silent.entry, other: other.entry });
      for (let n = 0; n < 6; n++) await leak((await service.createKey()).key);
      await expect.poll(() => other.events).toHaveLength(6);
      expect(silent.requests.length).toBeLessThanOrEqual(4);
      silent.status = 204;
    });
  });
});
