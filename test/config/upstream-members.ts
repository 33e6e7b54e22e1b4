import { expect } from 'vitest';
import { CONFIG, type Config } from '../../src/platform/config/config.js';
import { startSilentServer } from '../support/silent-server.js';
import { startStream, stream } from '../support/sse-client.js';
import type { ProviderCall } from '../../src/testing/provider/provider-call.js';
import { serving, type Effect, type Serving } from './effect.js';
import { inMovedTime } from '../support/moved-time.js';

const EVENT_BYTES = 8_192;
const COUNT = 'expected number to be >=1';
/** Enough requests that two routes of equal weight both get some, but for one of a million times. */
const MANY = 21;
const TEXT = 'expected string to have >=1 characters';

const NOTHING = () => Promise.resolve();
/** Credentials of a program that prints a header. */
const PRINTED = {
  kind: 'command',
  command: [process.execPath, '-e', 'console.log(JSON.stringify({ headers: { "x-team": "ours" } }))'],
};

/** Facts are for people and for `npm run catalog`: the service does not use them. */
export function factsOf(group: string): Readonly<Record<string, Effect>> {
  return {
    [`${group}.facts[].of`]: { set: NOTHING, unset: NOTHING, refused: [[[], 'expected array to have >=1 items']] },
    [`${group}.facts[].source`]: { set: NOTHING, unset: NOTHING, refused: [['', TEXT]] },
    [`${group}.facts[].checked`]: { set: NOTHING, unset: NOTHING, refused: [['yesterday', 'Invalid ISO date']] },
  };
}

/** Members of an upstream and of a route: what they change is seen by the provider. */
export const upstreamMembers: Readonly<Record<string, Effect>> = {
  'upstreams.<name>.protocol': {
    set: () => sent({ upstream: { protocol: 'anthropic' } }, ({ path }) => path, '/v1/messages'),
    unset: () => sent({ upstream: { protocol: 'openai' } }, ({ path }) => path, '/v1/chat/completions'),
    refused: [
      ['', TEXT],
      [undefined, 'expected string'],
    ],
  },
  'upstreams.<name>.base_url': {
    set: () => sent({}, ({ path }) => path, '/v1/chat/completions'),
    unset: () =>
      serving({ upstream: { protocol: 'builtin', base_url: undefined } }, async ({ origin, key, provider }) => {
        expect((await stream(origin, { key })).status).toBe(200);
        expect(provider.calls).toEqual([]);
      }),
    refused: [
      ['ftp://provider', 'must start with http:// or https://'],
      ['http://[', 'must be a valid URL'],
    ],
  },
  'upstreams.<name>.api_key': {
    set: () => sent({ upstream: { api_key: 'ours' } }, ({ headers }) => headers.authorization, 'Bearer ours'),
    unset: () => sent({ upstream: { api_key: undefined } }, ({ headers }) => headers.authorization, undefined),
    refused: [
      ['', TEXT],
      ['a\nb', 'contains a character that is not allowed in a header'],
    ],
  },
  'upstreams.<name>.credentials.kind': {
    set: () =>
      sent({ upstream: { api_key: undefined, credentials: PRINTED } }, ({ headers }) => headers['x-team'], 'ours'),
    unset: NOTHING,
    refused: [['', TEXT]],
  },
  'upstreams.<name>.headers': {
    set: () => sent({ upstream: { headers: { 'x-team': 'ours' } } }, teamOf, 'ours'),
    unset: () => sent({}, teamOf, undefined),
    refused: [[['x-team'], 'expected record']],
  },
  'upstreams.<name>.timeouts.connect_ms': {
    set: givesUpConnecting,
    // The HTTP client has a clock of its own, which no test can move.
    unset: () =>
      serving({}, ({ service: { app } }) => {
        expect(app.get<Config>(CONFIG).upstreams.get('acme')?.timeouts.connectMs).toBe(10_000);
        return Promise.resolve();
      }),
    refused: [[0, COUNT]],
  },
  'upstreams.<name>.timeouts.first_token_ms': {
    set: () => givesUp({ first_token_ms: 300_000 }, 300_000, () => undefined),
    unset: () => givesUp({}, 120_000, () => undefined),
    refused: [[86_400_001, 'expected number to be <=86400000']],
  },
  'upstreams.<name>.timeouts.idle_ms': {
    set: () => givesUp({ idle_ms: 300_000 }, 300_000, beginAnswer),
    unset: () => givesUp({}, 60_000, beginAnswer),
    refused: [[1.5, 'expected int']],
  },
  'upstreams.<name>.options': {
    set: () => cachedPrompt({ options: { prompt_caching: false } }, undefined),
    unset: () => cachedPrompt({}, { type: 'ephemeral' }),
    refused: [[['prompt_caching'], 'expected record']],
  },
  'upstreams.<name>.max_tokens_field': {
    set: () => sentBody({ upstream: { max_tokens_field: 'max_completion_tokens' } }, { max_completion_tokens: 7 }),
    unset: () => sentBody({}, { max_tokens: 7 }),
    refused: [['tokens', 'expected one of "max_tokens"|"max_completion_tokens"']],
  },
  'upstreams.<name>.include_usage': {
    set: () => sent({ upstream: { include_usage: false } }, optionsOf, undefined),
    unset: () => sent({}, optionsOf, { include_usage: true }),
    refused: [['yes', 'expected boolean']],
  },
  ...factsOf('upstreams.<name>'),
  'upstreams.<name>.provider_messages': {
    set: () => refusedWith({ provider_messages: 'hidden' }, expect.not.stringContaining('at most 5') as string),
    unset: () => refusedWith({}, expect.stringContaining('max_tokens must be at most 5') as string),
    refused: [['all', 'expected one of "shown"|"hidden"']],
  },
  'upstreams.<name>.max_event_bytes': {
    set: () => statusOfEvent({ max_event_bytes: EVENT_BYTES }, EVENT_BYTES, 502),
    async unset() {
      await statusOfEvent({}, EVENT_BYTES, 200);
      await statusOfEvent({}, 1024 * 1024, 502);
    },
    refused: [
      [4095, 'expected number to be >=4096'],
      [16_777_217, 'expected number to be <=16777216'],
    ],
  },
  'models[].routes[].upstream': {
    set: () => sent({ route: { upstream: 'acme' } }, ({ path }) => path, '/v1/chat/completions'),
    unset: () => Promise.resolve(),
    refused: [
      ['nobody', '"nobody" is not one of the upstreams'],
      [undefined, 'expected string'],
    ],
  },
  'models[].routes[].model': {
    set: () => sentBody({ route: { model: 'fast-1' } }, { model: 'fast-1' }),
    unset: () => Promise.resolve(),
    refused: [[undefined, 'expected string']],
  },
  'models[].routes[].priority': {
    set: () => sentBody(routes({ priority: 2 }, { priority: 1 }), { model: 'second' }),
    unset: () => sentBody(routes({}, {}), { model: 'first' }),
    refused: [
      [0, COUNT],
      [1001, 'expected number to be <=1000'],
      [1.5, 'expected int'],
    ],
  },
  'models[].routes[].weight': {
    set: () => shareOfFirst({ weight: 1_000 }, { weight: 0.001 }, [MANY, MANY]),
    unset: () => shareOfFirst({}, {}, [1, MANY - 1]),
    refused: [
      [0, 'expected number to be >=0.001'],
      [1001, 'expected number to be <=1000'],
    ],
  },
  'models[].routes[].unsupported_options': {
    set: () => sent({ route: { unsupported_options: ['temperature'] } }, ({ json }) => json['temperature'], undefined),
    unset: () => sent({}, ({ json }) => json['temperature'], 0.7),
    refused: [['temperature', 'expected array']],
  },
  'models[].routes[].temperature': {
    set: () => sent({ route: { temperature: false } }, ({ json }) => json['temperature'], undefined),
    unset: () => sent({}, ({ json }) => json['temperature'], 0.7),
    refused: [[0.7, 'expected boolean']],
  },
};

const teamOf = ({ headers }: ProviderCall): unknown => headers['x-team'];
const optionsOf = ({ json }: ProviderCall): unknown => json['stream_options'];
const beginAnswer = (call: ProviderCall): void => void call.head().text('Hel');

/** What the provider gets with a request, of 7 tokens at most by default. */
export async function sent(
  options: Serving,
  look: (call: ProviderCall) => unknown,
  expected: unknown,
  body: object = { max_tokens: 7 },
): Promise<void> {
  await serving(options, async ({ origin, key, provider }) => {
    await stream(origin, { key, body });
    expect(look(await provider.call(1))).toEqual(expected);
  });
}

/** What a caller reads whose request the provider has refused. */
async function refusedWith(upstream: object, message: string): Promise<void> {
  await serving({ upstream }, async ({ origin, key, provider }) => {
    const error = { message: 'max_tokens must be at most 5', type: 'invalid_request_error', param: 'max_tokens' };
    provider.next((call) => {
      call.refuse(400, {}, JSON.stringify({ error }));
    });
    expect(await (await stream(origin, { key })).error()).toMatchObject({ code: 'upstream_rejected', message });
  });
}

function sentBody(options: Serving, expected: object): Promise<void> {
  return sent(options, ({ json }) => json, expect.objectContaining(expected));
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
async function shareOfFirst(first: object, second: object, [least, most]: readonly [number, number]): Promise<void> {
  const same = { priority: 1 };
  await serving(routes({ ...same, ...first }, { ...same, ...second }), async ({ origin, key, provider }) => {
    for (let index = 0; index < MANY; index++) await stream(origin, { key });
    const count = provider.calls.filter(({ json }) => json['model'] === 'first').length;
    expect(count).toBeGreaterThanOrEqual(least);
    expect(count).toBeLessThanOrEqual(most);
  });
}

async function cachedPrompt(upstream: object, mark: object | undefined): Promise<void> {
  const messages = [
    { role: 'system', content: 'x'.repeat(5_000) },
    { role: 'user', content: 'Hello' },
  ];
  const markOf = ({ json }: ProviderCall): unknown =>
    (json['system'] as { cache_control?: object }[])[0]?.cache_control;
  await sent({ upstream: { protocol: 'anthropic', ...upstream } }, markOf, mark, { messages });
}

/** The stream goes on for most of the time, and fails at its end. */
function givesUp(timeouts: object, ms: number, answer: (call: ProviderCall) => void): Promise<void> {
  return inMovedTime((time) =>
    serving({ upstream: { timeouts } }, async ({ origin, key, provider }) => {
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

async function givesUpConnecting(): Promise<void> {
  const silent = await startSilentServer();
  const upstream = { base_url: `https://${silent.authority}`, timeouts: { connect_ms: 100 } };
  await serving({ upstream }, async ({ origin, key }) => {
    const answer = await stream(origin, { key });
    expect(answer.status).toBe(504);
    expect((await answer.error()).code).toBe('upstream_timeout');
  });
  await silent.stop();
}

async function statusOfEvent(upstream: object, bytes: number, status: number): Promise<void> {
  await serving({ upstream }, async ({ origin, key, provider }) => {
    provider.next((call) => {
      call.answer('x'.repeat(bytes));
    });
    expect((await stream(origin, { key })).status).toBe(status);
  });
}
