import { expect } from 'vitest';
import { get, openStream, stream, type ReceivedStream } from '../support/sse-client.js';
import { z } from 'zod';
import type { Principal } from '../../src/auth/principal/principal.js';
import { ChatService } from '../../src/chat/chat.service.js';
import type { HookContext } from '../../src/chat/hooks/completion-hook.js';
import type { ChatRequest } from '../../src/chat/request/chat-request.dto.js';
import { ChatPlugin } from '../../src/plugin-api/chat-plugin.decorator.js';
import { PLUGIN_CONFIG } from '../../src/plugin-api/plugin-configs.js';
import type { UsageRecord } from '../../src/usage/record/usage-record.js';
import { serving, type Effect, type Serving } from './effect.js';
import { inMovedTime } from '../support/moved-time.js';
import { factsOf, sent } from './upstream-members.js';

const REQUIRED = () => Promise.resolve();
const TEXT = 'expected string to have >=1 characters';
const COUNT = 'expected number to be >=1';
/** More requests than any limit here. */
const MANY = 6;

/** Members of a model, and of a tier: callers see what they change. */
export const catalogMembers: Readonly<Record<string, Effect>> = {
  plugins: {
    set: () => configured({ limit: 7 }, { limit: 7 }),
    unset: () => configured(undefined, { limit: 5 }),
    refused: [['x', 'Invalid input: expected record']],
  },
  'models[].id': {
    set: () => listed({ id: 'ours/best' }, { id: 'ours/best' }),
    unset: REQUIRED,
    refused: [
      ['best', 'must have the form <vendor>/<model_name>'],
      [undefined, 'expected string'],
    ],
  },
  'models[].name': {
    set: () => listed({ name: 'Best' }, { name: 'Best' }),
    unset: REQUIRED,
    refused: [
      ['', TEXT],
      [undefined, 'expected string'],
    ],
  },
  'models[].provider': {
    set: () => listed({ provider: 'Ours' }, { provider: 'Ours' }),
    unset: REQUIRED,
    refused: [
      ['', TEXT],
      [undefined, 'expected string'],
    ],
  },
  'models[].context_length': {
    set: () => listed({ context_length: 99 }, { context_length: 99 }),
    unset: REQUIRED,
    refused: [
      [0, COUNT],
      [undefined, 'expected number'],
    ],
  },
  'models[].max_output_tokens': {
    set: () => refusesLonger({ model: { max_output_tokens: 5 } }),
    unset: () => sent({}, ({ json }) => json['max_tokens'], 7),
    refused: [[0, COUNT]],
  },
  'models[].aliases': {
    set: () => named({ aliases: ['gpt-*'] }, 200),
    unset: () => named({}, 400),
    refused: [['gpt-4o', 'expected array']],
  },
  'models[].capabilities': {
    set: () => withTools({ capabilities: ['images'] }, 'invalid_request'),
    unset: () => withTools({}, undefined),
    refused: [['tools', 'expected array']],
  },
  'models[].thinking': {
    set: () => thinks({ thinking: 'adaptive' }, 'adaptive'),
    unset: () => thinks({}, 'enabled'),
    refused: [['deeply', 'expected one of "budget"|"adaptive"|"levels"|"switch"']],
  },
  ...factsOf('models[]'),
  'models[].sticky': {
    set: () => routesOfAccount(true, 1),
    unset: () => routesOfAccount(undefined, 2),
    refused: [['account', 'expected boolean']],
  },
  'tiers.<name>.requests_per_minute': {
    async set() {
      const tiers = { free: { requests_per_minute: 2 } };
      await inMovedTime(() => codesOf({ tiers }, [200, 200, 429, 429, 429, 429]));
    },
    unset: () => codesOf({}, [200, 200, 200, 200, 200, 200]),
    refused: [[0, COUNT]],
  },
  'tiers.<name>.concurrent_streams': {
    set: () => codesOfOpen({ tiers: { free: { concurrent_streams: 2 } } }, [200, 200, 429, 429, 429, 429]),
    unset: () => codesOfOpen({}, [200, 200, 200, 200, 200, 200]),
    refused: [['2', 'expected number']],
  },
  'tiers.<name>.max_tokens': {
    set: async () => {
      const tiers = { free: { max_tokens: 5 } };
      await refusesLonger({ tiers });
      await sent({ tiers }, ({ json }) => json['max_tokens'], 5, {});
    },
    unset: () => sent({}, ({ json }) => json['max_tokens'], 7),
    refused: [[-1, COUNT]],
  },
  'tiers.<name>.plugins': {
    set: () => tierOfPlugin({ ours: { pages: 7 } }, { pages: 7 }),
    unset: () => tierOfPlugin(undefined, { pages: 5 }),
    refused: [['x', 'Invalid input: expected record']],
  },
  'tiers.<name>.tokens_per_minute': {
    set: () => codesOf({ tiers: { free: { tokens_per_minute: 1 } } }, [429, 429, 429, 429, 429, 429]),
    unset: () => codesOf({}, [200, 200, 200, 200, 200, 200]),
    refused: [[0, COUNT]],
  },
  'tiers.<name>.tokens_per_day': {
    set: () => codesOf({ tiers: { free: { tokens_per_day: 1 } } }, [429, 429, 429, 429, 429, 429]),
    unset: () => codesOf({}, [200, 200, 200, 200, 200, 200]),
    refused: [[0, COUNT]],
  },
  'tiers.<name>.budget.amount': {
    set: () => refusesAbove({ amount: 0.000001, per: 'month' }, '0.000001 USD per month'),
    unset: REQUIRED,
    refused: [
      [0, '>=0.000001'],
      ['5', 'expected number'],
    ],
  },
  'tiers.<name>.budget.per': {
    set: () => refusesAbove({ amount: 0.000001, per: 'day' }, '0.000001 USD per day'),
    unset: REQUIRED,
    refused: [['year', 'month']],
  },
  'tiers.<name>.budget.currency': {
    set: () => refusesAbove({ amount: 0.000001, currency: 'EUR', per: 'day' }, 'EUR per day', 'EUR'),
    unset: () => refusesAbove({ amount: 0.000001, per: 'day' }, 'EUR per day', 'EUR'),
    refused: [['EUR', 'must be USD, the currency of the prices']],
  },
  default_tier: {
    // The first tier is the default of the test; here it is the one without room for a token.
    set: () => codesOf({ tiers: { none: { tokens_per_day: 1 }, all: {} } }, [429, 429, 429, 429, 429, 429]),
    unset: REQUIRED,
    refused: [
      ['nobody', 'is not one of the tiers'],
      [undefined, 'expected string'],
    ],
  },
  currency: {
    set: () => costs({ input_per_million: 1, output_per_million: 1_000_000 }, 'EUR', 'EUR'),
    unset: () => costs({ input_per_million: 1, output_per_million: 1_000_000 }, 'USD'),
    refused: [['Euro', 'must be a currency code of three letters, such as USD']],
  },
};

async function refusesLonger(options: Serving): Promise<void> {
  await serving(options, async ({ origin, key, provider }) => {
    const refused = await stream(origin, { key, body: { max_tokens: 6 } });
    expect(refused.status).toBe(400);
    expect((await refused.error()).message).toContain('max_tokens must not be above 5');
    expect((await stream(origin, { key, body: { max_tokens: 5 } })).status).toBe(200);
    expect(provider.calls).toHaveLength(1);
  });
}

/** Requests the model by a name of another API. */
async function named(model: object, status: number): Promise<void> {
  await serving({ model }, async ({ origin, key }) => {
    expect((await stream(origin, { key, body: { model: 'gpt-4o' } })).status).toBe(status);
  });
}

/** Asks for a completion with a tool. `code`: the expected error, which names the member. */
async function withTools(model: object, code: string | undefined): Promise<void> {
  await serving({ model }, async ({ service, provider }) => {
    const principal = { accountId: 'ada', tier: { name: 'free' }, credential: { kind: 'external', id: 'job' } };
    const caller = { principal: principal as Principal, signal: new AbortController().signal, requestId: 'job-1' };
    const tools = [{ name: 'weather', parameters: { type: 'object' } }];
    const request = { model: 'acme/fast', messages: [{ role: 'user' as const, content: 'Hello' }], tools };
    const answer = service.app.get(ChatService, { strict: false }).complete(request, caller);
    if (code === undefined) expect(await answer).toMatchObject({ finishReason: 'stop' });
    else await expect(answer).rejects.toMatchObject({ code, details: [{ field: 'tools' }] });
    expect(provider.calls).toHaveLength(code === undefined ? 1 : 0);
  });
}

/** How Anthropic is asked to reason. */
async function thinks(model: object, type: string): Promise<void> {
  await serving({ model, upstream: { protocol: 'anthropic' } }, async ({ service, provider }) => {
    const principal = { accountId: 'ada', tier: { name: 'free' }, credential: { kind: 'external', id: 'job' } };
    const caller = { principal: principal as Principal, signal: new AbortController().signal, requestId: 'job-1' };
    const messages = [{ role: 'user' as const, content: 'Hello' }];
    const request = { model: 'acme/fast', messages, max_tokens: 4_000, reasoning: { effort: 'high' as const } };
    // The provider answers in another format.
    await expect(service.app.get(ChatService, { strict: false }).complete(request, caller)).rejects.toThrow();
    expect((await provider.call(1)).json['thinking']).toMatchObject({ type });
  });
}

async function refusesAbove(budget: object, text: string, currency?: string): Promise<void> {
  const price = { input_per_million: 1, output_per_million: 1 };
  await serving({ tiers: { free: { budget } }, model: { price }, currency }, async ({ origin, key }) => {
    const refused = await stream(origin, { key });
    expect(refused.status).toBe(429);
    expect((await refused.error()).message).toContain(text);
  });
}

async function listed(model: object, expected: object): Promise<void> {
  await serving({ model }, async ({ origin }) => {
    const { models } = JSON.parse((await get(origin, '/api/v1/chat/models')).raw) as { models: object[] };
    expect(models).toEqual([expect.objectContaining(expected)]);
  });
}

/** The report of what one stream has cost. Without a price it names no currency. */
async function costs(price: object | undefined, shown: string | undefined, currency?: string): Promise<void> {
  const records: UsageRecord[] = [];
  await serving({ model: { price }, records, ...(currency !== undefined && { currency }) }, async (served) => {
    await stream(served.origin, { key: served.key });
  });
  const costMicros = price === undefined ? undefined : (expect.any(Number) as number);
  expect(records.map((record) => ({ currency: record.price?.currency, costMicros: record.costMicros }))).toEqual([
    { currency: shown, costMicros },
  ]);
  if (price !== undefined) expect(records[0]?.costMicros).toBeGreaterThan(1_000_000);
}

async function codesOf(options: Serving, expected: readonly number[]): Promise<void> {
  await serving(options, async ({ origin, key }) => {
    const statuses: number[] = [];
    for (let count = 0; count < MANY; count++) statuses.push((await stream(origin, { key })).status);
    expect(statuses).toEqual(expected);
  });
}

async function codesOfOpen(options: Serving, expected: readonly number[]): Promise<void> {
  await serving(options, async ({ origin, key, provider }) => {
    provider.answers((call) => void call.head().text('Hel'));
    const answers: ReceivedStream[] = [];
    for (let count = 0; count < MANY; count++) answers.push(await openStream(origin, { key }));
    expect(answers.map(({ status }) => status)).toEqual(expected);
    for (const answer of answers) answer.leave();
  });
}

/** How many of two routes with the same priority answer many requests of one account. */
async function routesOfAccount(sticky: boolean | undefined, count: number): Promise<void> {
  const routes = ['first', 'second'].map((model) => ({ upstream: 'acme', model, priority: 1 }));
  await serving({ model: { sticky, routes } }, async ({ origin, key, provider }) => {
    // By chance alone, all of so many requests go to one of the two routes once in a million times.
    for (let index = 0; index < 21; index++) await stream(origin, { key });
    expect(new Set(provider.calls.map(({ json }) => json['model'])).size).toBe(count);
  });
}

/** What a plugin gets that has a default. */
async function tierOfPlugin(plugins: object | undefined, expected: object): Promise<void> {
  const seen: unknown[] = [];
  @ChatPlugin({
    name: 'ours',
    compatibility: '^1',
    tier: z.strictObject({ pages: z.int().default(5) }),
    completionHooks: [
      {
        useFactory: () => ({
          transformRequest: (request: ChatRequest, { principal }: HookContext) => {
            seen.push(principal.tier.plugins?.['ours']);
            return request;
          },
        }),
      },
    ],
  })
  class OurPlugin {}
  await codesOf({ plugins: [OurPlugin], tiers: { free: { plugins } } }, [200, 200, 200, 200, 200, 200]);
  expect(seen[0]).toEqual(expected);
}

async function configured(given: object | undefined, expected: object): Promise<void> {
  const seen: unknown[] = [];
  @ChatPlugin({
    name: 'ours',
    compatibility: '^1',
    config: z.strictObject({ limit: z.int().default(5) }),
    providers: [{ provide: 'seen', inject: [PLUGIN_CONFIG], useFactory: (config: unknown) => seen.push(config) }],
  })
  class OurPlugin {}
  const pluginConfigs = given === undefined ? undefined : { ours: given };
  await serving({ plugins: [OurPlugin], pluginConfigs }, () => Promise.resolve());
  expect(seen).toEqual([expected]);
}
