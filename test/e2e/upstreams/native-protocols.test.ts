import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { routesTo } from '../../support/catalog.js';
import { gemini, ollama, type Dialect } from '../../../src/testing/provider/dialects.js';
import { ScriptedProvider } from '../../../src/testing/provider/scripted-provider.js';
import { startService, type RunningService } from '../../support/service.js';
import { stream } from '../../support/sse-client.js';
import { readWire } from '../../support/wire.js';

/** A service with one upstream of this protocol. */
async function serviceOf(provider: ScriptedProvider, options: object): Promise<RunningService> {
  const { upstreams, models } = routesTo([provider]);
  const base_url = provider.origin;
  return startService({ upstreams: { acme: { ...upstreams['acme'], base_url, options } }, models });
}

describe.each<[Dialect, { options: object; path: string; sent: object }]>([
  [
    gemini,
    {
      options: { thinking_level: 'low' },
      path: '/v1beta/models/acme-model:streamGenerateContent?alt=sse',
      sent: { generationConfig: { thinkingConfig: { thinkingLevel: 'low' } } },
    },
  ],
  [
    ollama,
    {
      options: { num_ctx: 16_384, keep_alive: '30m' },
      path: '/api/chat',
      sent: { keep_alive: '30m', options: { num_ctx: 16_384 } },
    },
  ],
])('an upstream with the protocol $protocol', (dialect, { options, path, sent }) => {
  let provider: ScriptedProvider;
  let service: RunningService;
  let key: string;

  beforeAll(async () => {
    provider = await ScriptedProvider.start(dialect);
    service = await serviceOf(provider, options);
    ({ key } = await service.createKey());
  });
  afterAll(async () => {
    await service.stop();
    await provider.stop();
  });

  it('gets the request with the options of the upstream, and answers with a stream', async () => {
    const answer = await stream(service.origin, { key });
    expect(readWire(answer.raw)).toMatchObject({ text: 'Hello world', terminal: 'done' });
    expect(provider.calls[0]?.path).toBe(path);
    expect(provider.calls[0]?.json).toMatchObject(sent);
  });

  it('may reason before it answers', async () => {
    provider.next((call) => {
      call.head().reasoning('So').text('Yes').finish().end();
    });
    expect(readWire((await stream(service.origin, { key })).raw)).toMatchObject({ text: 'Yes', terminal: 'done' });
  });
});

describe('a failure of Gemini before the stream', () => {
  let provider: ScriptedProvider;
  let service: RunningService;
  let key: string;

  beforeAll(async () => {
    provider = await ScriptedProvider.start(gemini);
    service = await serviceOf(provider, {});
    ({ key } = await service.createKey());
  });
  afterAll(async () => {
    await service.stop();
    await provider.stop();
  });

  const refusal = (code: number, status: string, detail: object) =>
    JSON.stringify({ error: { code, message: 'sk-provider-secret', status, details: [detail] } });

  it('about an invalid key is not the fault of the caller', async () => {
    provider.next((call) => {
      call.refuse(400, {}, refusal(400, 'INVALID_ARGUMENT', { reason: 'API_KEY_INVALID' }));
    });
    const answer = await stream(service.origin, { key });
    expect(answer.status).toBe(502);
    expect(await answer.error()).toMatchObject({ code: 'upstream_error' });
  });

  it('says how long to wait', async () => {
    const own = await serviceOf(provider, {});
    provider.next((call) => {
      call.refuse(429, {}, refusal(429, 'RESOURCE_EXHAUSTED', { retryDelay: '34.4s' }));
    });
    const answer = await stream(own.origin, { key: (await own.createKey()).key });
    expect(answer.status).toBe(503);
    expect(answer.headers['retry-after']).toBe('35');
    await own.stop();
  });
});

it.each([
  [gemini, { thinking_level: 'none' }, 'upstreams.acme.options.thinking_level'],
  [ollama, { keep_alive: 'forever' }, 'upstreams.acme.options.keep_alive'],
])('an invalid option keeps the service from starting, and is named (%#)', async (dialect, options, path) => {
  const provider = await ScriptedProvider.start(dialect);
  await expect(serviceOf(provider, options)).rejects.toThrow(path);
  await provider.stop();
});
