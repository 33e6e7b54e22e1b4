import { DataSource } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AccountsService } from '../../../src/accounts/accounts/accounts.service.js';
import { ApiKeysService } from '../../../src/accounts/api-keys/api-keys.service.js';
import { SharedReservations } from '../../../src/usage/budgets/shared-reservations.js';
import { routesTo } from '../../support/catalog.js';
import { testEngines, urlOf, type TestDatabase } from '../../support/database.js';
import { retryWhileOverloaded, STARVED } from '../../support/retry-while-overloaded.js';
import { beginning, refusing } from '../../support/scripts.js';
import { get, openStream, stream } from '../../support/sse-client.js';
import { signedIn } from '../../support/account-session.js';
import { setStage, type Stage } from '../../support/stage.js';

/** 10 + 20 tokens cost 0.01 + 0.04. */
const PRICE = { input_per_million: 1_000, output_per_million: 2_000 };
const COST = 0.05;
const USAGE = `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 20 } })}\n\n`;
const TIERS = {
  free: {},
  company: { budget: { amount: 1, per: 'month' }, max_tokens: 20 },
  large: { budget: { amount: 1_000, per: 'month' }, max_tokens: 20 },
  daily: { budget: { amount: 1, currency: 'USD', per: 'day' } },
};

describe.each(await testEngines())('a budget on $name', (engine) => {
  let stage: Stage;
  let database: TestDatabase;

  beforeAll(async () => {
    database = await engine.create();
    const url = urlOf(database);
    stage = await setStage(1, {
      catalog: (providers) => {
        const { upstreams, models } = routesTo(providers, {}, PRICE);
        return { upstreams, models: [...models, { ...models[0], id: 'acme/unpriced', price: undefined }] };
      },
      tiers: TIERS,
      env: { DATABASE_URL: url },
    });
  });
  beforeEach(() => {
    stage.provider.answers((call) => {
      call.head().text('Hi').finish().write(USAGE).endMarker().end();
    });
  });
  afterAll(async () => {
    await stage.clear();
    await database.drop();
  });

  const keyOf = async (tier: string) => (await stage.service.createKey({ tier })).key;
  const budgetOf = async (key: string) => {
    const answer = await get(stage.origin, '/api/v1/usage', { Authorization: `Bearer ${key}` });
    return (JSON.parse(await answer.body()) as { budget: Record<string, unknown> | null }).budget;
  };
  /** Other tests can keep the database, or this process, busy for a while. */
  const ask = (key: string, body: object = {}) =>
    retryWhileOverloaded(() => stream(stage.origin, { key, body }), STARVED);
  const statusOf = async (key: string, body: object = {}) => (await ask(key, body)).status;

  it('is passed by nothing when 60 requests come at once, and is used up by what they cost', async () => {
    const key = await keyOf('company');
    const answers = await Promise.all(Array.from({ length: 60 }, () => ask(key)));
    const statuses = answers.map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    for (const refused of answers.filter(({ status }) => status === 429)) {
      const { message } = await refused.error();
      const [amount = 0, ...used] = [...message.matchAll(/\d+(?:\.\d+)?(?!\w)/g)].map(Number);
      expect(
        used.reduce((sum, figure) => sum + figure, 0),
        message,
      ).toBeGreaterThan(amount);
    }
    await expect.poll(async () => (await budgetOf(key))?.['reserved']).toBe(0);
    const spent = Number((await budgetOf(key))?.['spent']);
    expect(spent).toBeCloseTo(COST * statuses.filter((status) => status === 200).length, 6);
    expect(spent).toBeLessThanOrEqual(1);

    while ((await statusOf(key)) === 200);
    const refused = await stream(stage.origin, { key });
    const now = new Date();
    const untilNextMonth = (Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1) - now.getTime()) / 1000;
    expect(Math.abs(Number(refused.headers['retry-after']) - untilNextMonth)).toBeLessThan(60);
    expect(await refused.error()).toMatchObject({ code: 'budget_exceeded' });
    expect(Number((await budgetOf(key))?.['spent'])).toBeLessThanOrEqual(1);
  });

  it('shares reserved money among the requests of a busy account, exactly, and releases it', async () => {
    // 60 requests reserve about 3, and 200 times as much is left.
    const key = await keyOf('large');
    const statuses = await Promise.all(Array.from({ length: 60 }, () => statusOf(key)));
    expect(new Set(statuses)).toEqual(new Set([200]));
    const again = await Promise.all(Array.from({ length: 60 }, () => statusOf(key)));
    expect(new Set(again)).toEqual(new Set([200]));
    await expect.poll(async () => (await budgetOf(key))?.['reserved'], { timeout: 10_000 }).toBe(0);
    expect(Number((await budgetOf(key))?.['spent'])).toBeCloseTo(COST * 120, 6);
  });

  it('shows what is reserved while a request runs, and releases what the request does not use', async () => {
    stage.provider.answers(beginning('Hi'));
    const key = await keyOf('company');
    expect(await budgetOf(key)).toMatchObject({ amount: 1, spent: 0, reserved: 0, currency: 'USD', per: 'month' });
    const running = await openStream(stage.origin, { key, body: { max_tokens: 10 } });
    await running.block(1);
    const { reserved } = (await budgetOf(key)) as { reserved: number };
    // 10 tokens of the answer, and the tokens of the prompt with a margin.
    expect(reserved).toBeGreaterThan(0.02);
    expect(reserved).toBeLessThan(0.06);
    running.leave();
    await expect.poll(async () => (await budgetOf(key))?.['reserved']).toBe(0);
    stage.provider.answers(refusing(400));
    expect(await statusOf(key)).toBe(400);
    await expect.poll(async () => (await budgetOf(key))?.['reserved']).toBe(0);
  });

  it('refuses models without a price only where there is a budget, and sends the provider its limit of tokens', async () => {
    const [limited, open] = [await keyOf('daily'), await keyOf('free')];
    expect(await statusOf(open, { model: 'acme/unpriced' })).toBe(200);
    const refused = await stream(stage.origin, { key: limited, body: { model: 'acme/unpriced' } });
    expect([refused.status, (await refused.error()).code]).toEqual([400, 'model_not_priced']);
    expect(await budgetOf(open)).toBeNull();
    // Without a limit of tokens, the answer could cost 16. It gets a limit that fits.
    expect(await statusOf(limited)).toBe(200);
    const { max_tokens: lowered } = JSON.parse(stage.provider.calls.at(-1)?.body ?? '{}') as { max_tokens: number };
    expect(lowered).toBeGreaterThan(200);
    expect(lowered).toBeLessThan(500);
    expect(await statusOf(limited, { max_tokens: 20 })).toBe(200);
    expect(JSON.parse(stage.provider.calls.at(-1)?.body ?? '{}')).toMatchObject({ max_tokens: 20 });
  });

  it('is on the page of the usage, with a warning from 80 % on', async () => {
    const { cookie, email } = await signedIn(stage.service, 'company');
    const { key } = await stage.service.createKey({ email });
    const page = async () => {
      const answer = await get(stage.origin, '/usage', { Cookie: `${cookie.name}=${cookie.value}` });
      return (await answer.body()).replaceAll(/<[^>]+>/g, ' ');
    };
    expect(await page()).toContain('$1.00 per month');
    expect(await page()).not.toContain('% of the budget');
    while ((await statusOf(key)) === 200);
    expect(await page()).toMatch(/\d+ % of the budget is spent or reserved/);
  });

  it('of a key counts the keys that replace it, and not other keys', async () => {
    const { app } = stage.service;
    const account = await app
      .get(AccountsService, { strict: false })
      .create({ email: 'ada@example.com', password: 'correct horse battery', tier: 'company' });
    const keys = app.get(ApiKeysService, { strict: false });
    const limits = { budgetMicros: 140_000, budgetPer: 'day' } as const;
    const { id, key } = await keys.create(account.id, { name: 'n', limits });
    expect(await statusOf(key)).toBe(200);
    const { created } = await app.get(ApiKeysService, { strict: false }).rotate(id, account.id, { overlapMs: 60_000 });
    expect(await statusOf(created.key)).toBe(200);
    const asked = { max_tokens: 20 };
    expect(await statusOf(created.key, asked)).toBe(429);
    expect(await statusOf(key, asked)).toBe(429);
    await expect.poll(() => budgetOf(created.key)).toMatchObject({ amount: 0.14, spent: 0.1, reserved: 0, per: 'day' });
    const other = await keys.create(account.id, { name: 'other' });
    expect(await statusOf(other.key)).toBe(200);
  });

  // The last test, as the process shares no money afterwards.
  it('releases shared money when the process stops', async () => {
    const { service } = stage;
    const holds = () => service.app.get(DataSource).query<unknown[]>('SELECT id FROM budget_holds');
    await expect.poll(holds).toEqual([]);
    const key = await keyOf('large');
    await Promise.all(Array.from({ length: 60 }, () => statusOf(key)));
    expect(await holds()).not.toEqual([]);
    await service.app.get(SharedReservations, { strict: false }).beforeApplicationShutdown();
    expect(await holds()).toEqual([]);
  });
});
