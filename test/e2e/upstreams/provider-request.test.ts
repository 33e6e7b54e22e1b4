import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONTEXT_LENGTH, MODEL, routesTo } from '../../support/catalog.js';
import { anthropic } from '../../../src/testing/provider/dialects.js';
import { ScriptedProvider } from '../../../src/testing/provider/scripted-provider.js';
import { startService, type RunningService } from '../../support/service.js';
import { stream } from '../../support/sse-client.js';

const MESSAGES = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Hi 🦜' },
  { role: 'assistant', content: 'Hello' },
  { role: 'user', content: 'Bye' },
];

describe('what the provider is sent', () => {
  let provider: ScriptedProvider;
  let claude: ScriptedProvider;
  let service: RunningService;
  let free: string;
  let rich: string;

  beforeAll(async () => {
    provider = await ScriptedProvider.start();
    claude = await ScriptedProvider.start(anthropic);
    const [first, second] = [routesTo([provider]), routesTo([claude])];
    service = await startService({
      upstreams: {
        ...first.upstreams,
        claude: { ...second.upstreams['acme'], headers: { 'x-team': 'ours' } },
        strict: {
          ...first.upstreams['acme'],
          max_tokens_field: 'max_completion_tokens',
          include_usage: false,
        },
      },
      models: [
        ...first.models,
        {
          ...first.models[0],
          id: 'both/x',
          routes: [
            { upstream: 'claude', model: 'first' },
            { upstream: 'acme', model: 'fallback' },
          ],
        },
        { ...first.models[0], id: 'claude/large', routes: [{ upstream: 'claude', model: 'large-1' }] },
        {
          ...first.models[0],
          id: 'strict/o',
          routes: [{ upstream: 'strict', model: 'o-1', unsupported_options: ['temperature', 'seed'] }],
        },
        {
          ...first.models[0],
          id: 'claude/short',
          max_output_tokens: 100,
          routes: [{ upstream: 'claude', model: 'short-1' }],
        },
        { ...first.models[0], id: 'short/x', max_output_tokens: 100, routes: [{ upstream: 'acme', model: 'x' }] },
      ],
      tiers: { free: { max_tokens: 1000 }, rich: {}, vast: { max_tokens: 100_000 } },
    });
    free = (await service.createKey()).key;
    rich = (await service.createKey({ tier: 'rich' })).key;
  });
  afterAll(async () => {
    await service.stop();
    await provider.stop();
    await claude.stop();
  });

  async function sent(key: string, body: object = {}, to = provider) {
    const before = to.calls.length;
    const { status } = await stream(service.origin, { key, body: { messages: MESSAGES, ...body } });
    expect(status).toBe(200);
    return to.call(before + 1);
  }

  it('is the conversation with the defaults and the cap of the tier, and our key', async () => {
    const { json, headers, path } = await sent(free);

    expect(path).toBe('/v1/chat/completions');
    expect(json).toEqual({
      model: 'acme-model',
      messages: MESSAGES,
      stream: true,
      temperature: 0.7,
      max_tokens: 1000,
      stream_options: { include_usage: true },
    });
    expect(headers).toMatchObject({ authorization: 'Bearer secret-of-acme', 'content-type': 'application/json' });
    expect(JSON.stringify(headers)).not.toContain(free);
  });

  it('is the request of the caller', async () => {
    expect((await sent(free, { temperature: 0, max_tokens: 1 })).json).toMatchObject({ temperature: 0, max_tokens: 1 });
    expect((await sent(free, { temperature: 2 })).json).toMatchObject({ temperature: 2 });
  });

  it('has no limit of tokens where neither the caller nor the tier has one', async () => {
    expect((await sent(rich)).json).not.toHaveProperty('max_tokens');
  });

  it('has no limit above what the model can write', async () => {
    expect((await sent(free, { model: 'short/x' })).json).toMatchObject({ max_tokens: 100 });
  });

  it('has no limit above what fits the model, whatever the tier allows', async () => {
    const { key } = await service.createKey({ tier: 'vast' });
    expect((await sent(key)).json).toMatchObject({ max_tokens: CONTEXT_LENGTH });
    expect((await sent(key, { model: 'short/x' })).json).toMatchObject({ max_tokens: 100 });
  });

  it('carries the generation options, with stop as a list', async () => {
    const options = { temperature: 1, top_p: 0.25, seed: 7, presence_penalty: -1.5, frequency_penalty: 1.25 };
    expect((await sent(free, { ...options, stop: 'END' })).json).toMatchObject({ ...options, stop: ['END'] });
    expect((await sent(free, { stop: ['a', 'b'] })).json).toMatchObject({ stop: ['a', 'b'], temperature: 0.7 });
  });

  it('has no default temperature with top_p', async () => {
    expect((await sent(free, { top_p: 0.25 })).json).not.toHaveProperty('temperature');
  });

  it.each([
    ['strict/o', { seed: 7 }, ['seed']],
    ['claude/large', { seed: 7, presence_penalty: 1, top_p: 0.5 }, ['seed', 'presence_penalty']],
  ])(
    'is not sent to %s with the options %j: the error names each unsupported option and the model',
    async (model, options, fields) => {
      const before = [provider.calls.length, claude.calls.length];
      const answer = await stream(service.origin, { key: free, body: { model, messages: MESSAGES, ...options } });
      expect(answer.status).toBe(400);
      expect(await answer.error()).toMatchObject({
        code: 'invalid_request',
        details: fields.map((field) => ({ field, message: `is not supported by the model ${model}` })),
      });
      expect([provider.calls.length, claude.calls.length]).toEqual(before);
    },
  );

  it('skips a route that does not take an option', async () => {
    expect((await sent(free, { model: 'both/x', seed: 7 })).json).toMatchObject({ model: 'fallback', seed: 7 });
    expect((await sent(free, { model: 'both/x', stop: 'END' }, claude)).json).toMatchObject({
      stop_sequences: ['END'],
    });
  });

  it('leaves out what the upstream or the model refuses', async () => {
    expect((await sent(free, { model: 'strict/o' })).json).toEqual({
      model: 'o-1',
      messages: MESSAGES,
      stream: true,
      max_completion_tokens: 1000,
    });
  });

  it('is what Anthropic understands', async () => {
    const { json, headers, path } = await sent(free, { model: 'claude/large' }, claude);

    expect(path).toBe('/v1/messages');
    expect(json).toEqual({
      model: 'large-1',
      max_tokens: 1000,
      system: 'Be brief.',
      messages: MESSAGES.slice(1),
      stream: true,
      temperature: 0.7,
    });
    expect(headers).toMatchObject({
      'x-api-key': 'secret-of-acme',
      'anthropic-version': '2023-06-01',
      'x-team': 'ours',
    });
    expect(headers.authorization).toBeUndefined();
  });

  it('is the limit of the model where the request has none, for Anthropic, which demands one', async () => {
    expect((await sent(rich, { model: 'claude/short' }, claude)).json).toMatchObject({ max_tokens: 100 });
  });

  it('is sent once', async () => {
    const before = provider.calls.length;
    await stream(service.origin, { key: free, body: { model: MODEL } });
    expect(provider.calls.length).toBe(before + 1);
  });
});
