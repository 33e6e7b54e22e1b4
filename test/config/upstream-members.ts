import { expect } from 'vitest';
import { CONFIG, type Config } from '../../src/config/config.js';
import { startSilentServer } from '../support/silent-server.js';
import { startStream, stream } from '../support/sse-client.js';
import type { ProviderCall } from '../../src/testing/provider/provider-call.js';
import { serving, type Effect, type Mode, type Serving } from './effect.js';
import { inMovedTime } from '../support/moved-time.js';

const EVENT_BYTES = 8_192;
const COUNT = 'expected number to be >=1';
/** Enough requests that two routes of equal weight both get some, but for one of a million times. */
const MANY = 21;
const TEXT = 'expected string to have >=1 characters';

/** Members of an upstream and of a route: what they change is seen by the provider. */
export const upstreamMembers: Readonly<Record<string, Effect>> = {
  'upstreams.<name>.protocol': {
    set: (mode) => sent(mode, { upstream: { protocol: 'anthropic' } }, ({ path }) => path, '/v1/messages'),
    unset: (mode) => sent(mode, { upstream: { protocol: 'openai' } }, ({ path }) => path, '/v1/chat/completions'),
    refused: [
      ['', TEXT],
      [undefined, 'expected string'],
    ],
  },
  'upstreams.<name>.base_url': {
    set: (mode) => sent(mode, {}, ({ path }) => path, '/v1/chat/completions'),
    unset: (mode) =>
      serving(mode, { upstream: { protocol: 'builtin', base_url: undefined } }, async ({ origin, key, provider }) => {
        expect((await stream(origin, { key })).status).toBe(200);
        expect(provider.calls).toEqual([]);
      }),
    refused: [
      ['ftp://provider', 'must start with http:// or https://'],
      ['http://[', 'must be a valid URL'],
    ],
  },
  'upstreams.<name>.api_key': {
    set: (mode) => sent(mode, { upstream: { api_key: 'ours' } }, ({ headers }) => headers.authorization, 'Bearer ours'),
    unset: (mode) =>
      sent(mode, { upstream: { api_key: undefined } }, ({ headers }) => headers.authorization, undefined),
    refused: [
      ['', TEXT],
      ['a\nb', 'contains a character that is not allowed in a header'],
    ],
  },
  'upstreams.<name>.headers': {
    set: (mode) => sent(mode, { upstream: { headers: { 'x-team': 'ours' } } }, teamOf, 'ours'),
    unset: (mode) => sent(mode, {}, teamOf, undefined),
    refused: [[['x-team'], 'expected record']],
  },
  'upstreams.<name>.timeouts.connect_ms': {
    set: givesUpConnecting,
    // The HTTP client has a clock of its own, which no test can move.
    unset: (mode) =>
      serving(mode, {}, ({ service: { app } }) => {
        expect(app.get<Config>(CONFIG).upstreams.get('acme')?.timeouts.connectMs).toBe(10_000);
        return Promise.resolve();
      }),
    refused: [[0, COUNT]],
  },
  'upstreams.<name>.timeouts.first_token_ms': {
    set: (mode) => givesUp(mode, { first_token_ms: 300_000 }, 300_000, () => undefined),
    unset: (mode) => givesUp(mode, {}, 120_000, () => undefined),
    refused: [[86_400_001, 'expected number to be <=86400000']],
  },
  'upstreams.<name>.timeouts.idle_ms': {
    set: (mode) => givesUp(mode, { idle_ms: 300_000 }, 300_000, beginAnswer),
    unset: (mode) => givesUp(mode, {}, 60_000, beginAnswer),
    refused: [[1.5, 'expected int']],
  },
  'upstreams.<name>.options': {
    set: (mode) => cachedPrompt(mode, { options: { prompt_caching: false } }, undefined),
    unset: (mode) => cachedPrompt(mode, {}, { type: 'ephemeral' }),
    refused: [[['prompt_caching'], 'expected record']],
  },
  'upstreams.<name>.max_tokens_field': {
    set: (mode) =>
      sentBody(mode, { upstream: { max_tokens_field: 'max_completion_tokens' } }, { max_completion_tokens: 7 }),
    unset: (mode) => sentBody(mode, {}, { max_tokens: 7 }),
    refused: [['tokens', 'expected one of "max_tokens"|"max_completion_tokens"']],
  },
  'upstreams.<name>.include_usage': {
    set: (mode) => sent(mode, { upstream: { include_usage: false } }, optionsOf, undefined),
    unset: (mode) => sent(mode, {}, optionsOf, { include_usage: true }),
    refused: [['yes', 'expected boolean']],
  },
  'upstreams.<name>.max_event_bytes': {
    set: (mode) => statusOfEvent(mode, { max_event_bytes: EVENT_BYTES }, EVENT_BYTES, 502),
    async unset(mode) {
      await statusOfEvent(mode, {}, EVENT_BYTES, 200);
      await statusOfEvent(mode, {}, 1024 * 1024, 502);
    },
    refused: [
      [4095, 'expected number to be >=4096'],
      [16_777_217, 'expected number to be <=16777216'],
    ],
  },
  'models[].routes[].upstream': {
    set: (mode) => sent(mode, { route: { upstream: 'acme' } }, ({ path }) => path, '/v1/chat/completions'),
    unset: () => Promise.resolve(),
    refused: [
      ['nobody', '"nobody" is not one of the upstreams'],
      [undefined, 'expected string'],
    ],
  },
  'models[].routes[].model': {
    set: (mode) => sentBody(mode, { route: { model: 'fast-1' } }, { model: 'fast-1' }),
    unset: () => Promise.resolve(),
    refused: [[undefined, 'expected string']],
  },
  'models[].routes[].priority': {
    set: (mode) => sentBody(mode, routes({ priority: 2 }, { priority: 1 }), { model: 'second' }),
    unset: (mode) => sentBody(mode, routes({}, {}), { model: 'first' }),
    refused: [
      [0, COUNT],
      [1001, 'expected number to be <=1000'],
      [1.5, 'expected int'],
    ],
  },
  'models[].routes[].weight': {
    set: (mode) => shareOfFirst(mode, { weight: 1_000 }, { weight: 0.001 }, [MANY, MANY]),
    unset: (mode) => shareOfFirst(mode, {}, {}, [1, MANY - 1]),
    refused: [
      [0, 'expected number to be >=0.001'],
      [1001, 'expected number to be <=1000'],
    ],
  },
  'models[].routes[].unsupported_options': {
    set: (mode) =>
      sent(mode, { route: { unsupported_options: ['temperature'] } }, ({ json }) => json['temperature'], undefined),
    unset: (mode) => sent(mode, {}, ({ json }) => json['temperature'], 0.7),
    refused: [['temperature', 'expected array']],
  },
  'models[].routes[].temperature': {
    set: (mode) => sent(mode, { route: { temperature: false } }, ({ json }) => json['temperature'], undefined),
    unset: (mode) => sent(mode, {}, ({ json }) => json['temperature'], 0.7),
    refused: [[0.7, 'expected boolean']],
  },
};

const teamOf = ({ headers }: ProviderCall): unknown => headers['x-team'];
const optionsOf = ({ json }: ProviderCall): unknown => json['stream_options'];
const beginAnswer = (call: ProviderCall): void => void call.head().text('Hel');

/** What the provider gets with a request, of 7 tokens at most by default. */
export async function sent(
  mode: Mode,
  options: Serving,
  look: (call: ProviderCall) => unknown,
  expected: unknown,
  body: object = { max_tokens: 7 },
): Promise<void> {
  await serving(mode, options, async ({ origin, key, provider }) => {
    await stream(origin, { key, body });
    expect(look(await provider.call(1))).toEqual(expected);
  });
}

function sentBody(mode: Mode, options: Serving, expected: object): Promise<void> {
  return sent(mode, options, ({ json }) => json, expect.objectContaining(expected));
}

/** A model with two routes. */
function routes(first: object, second: object): Serving {
  return {
    model: {
      routes: [
        { upstream: 'acme', model: 'first', ...first },
        { upstream: 'acme', model: 'second', ...second },
      ],
    },
  };
}

/** How many of many requests go to the first of two routes with the same priority. */
async function shareOfFirst(
  mode: Mode,
  first: object,
  second: object,
  [least, most]: readonly [number, number],
): Promise<void> {
  const same = { priority: 1 };
  await serving(mode, routes({ ...same, ...first }, { ...same, ...second }), async ({ origin, key, provider }) => {
    for (let index = 0; index < MANY; index++) await stream(origin, { key });
    const count = provider.calls.filter(({ json }) => json['model'] === 'first').length;
    expect(count).toBeGreaterThanOrEqual(least);
    expect(count).toBeLessThanOrEqual(most);
  });
}

async function cachedPrompt(mode: Mode, upstream: object, mark: object | undefined): Promise<void> {
  const messages = [
    { role: 'system', content: 'x'.repeat(5_000) },
    { role: 'user', content: 'Hello' },
  ];
  const markOf = ({ json }: ProviderCall): unknown =>
    (json['system'] as { cache_control?: object }[])[0]?.cache_control;
  await sent(mode, { upstream: { protocol: 'anthropic', ...upstream } }, markOf, mark, { messages });
}

/** The stream goes on for most of the time, and fails at its end. */
function givesUp(mode: Mode, timeouts: object, ms: number, answer: (call: ProviderCall) => void): Promise<void> {
  return inMovedTime((time) =>
    serving(mode, { upstream: { timeouts } }, async ({ origin, key, provider }) => {
      provider.next(answer);
      const pending = startStream(origin, { key });
      const call = await provider.call(1);
      // What the provider has sent so far has arrived.
      if (call.bytesWritten > 0) await (await pending.answer).block(1);
      await time.move(ms * 0.6);
      expect(call.abortedAt).toBeUndefined();
      await time.move(ms * 0.4);
      await call.over;
      const received = await pending.answer;
      expect(await received.body()).toContain('upstream_timeout');
    }),
  );
}

async function givesUpConnecting(mode: Mode): Promise<void> {
  const silent = await startSilentServer();
  const upstream = { base_url: `https://${silent.authority}`, timeouts: { connect_ms: 100 } };
  await serving(mode, { upstream }, async ({ origin, key }) => {
    const answer = await stream(origin, { key });
    expect(answer.status).toBe(504);
    expect((await answer.error()).code).toBe('upstream_timeout');
  });
  await silent.stop();
}

async function statusOfEvent(mode: Mode, upstream: object, bytes: number, status: number): Promise<void> {
  await serving(mode, { upstream }, async ({ origin, key, provider }) => {
    provider.next((call) => {
      call.answer('x'.repeat(bytes));
    });
    expect((await stream(origin, { key })).status).toBe(status);
  });
}
