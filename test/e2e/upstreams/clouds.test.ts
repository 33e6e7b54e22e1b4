import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ProviderCall } from '../../../src/testing/provider/provider-call.js';
import type { ScriptedProvider } from '../../../src/testing/provider/scripted-provider.js';
import { ARN, CLOUD_MODEL, CLOUD_REQUESTS, Clouds, EVENT_STREAM, PROFILE } from '../../support/clouds/clouds.js';
import { converseAnswer, converseEvent, converseException } from '../../support/clouds/converse-stream.js';
import { startService, type RunningService } from '../../support/service.js';
import { stream } from '../../support/sse-client.js';

let clouds: Clouds;
let eu: ScriptedProvider;
let us: ScriptedProvider;
let vertex: ScriptedProvider;
let claude: ScriptedProvider;
let azure: ScriptedProvider;
let service: RunningService;
let key: string;

const refuses =
  (status: number, headers = {}, body = '{"message":"because"}') =>
  (call: ProviderCall) => {
    call.refuse(status, headers, body);
  };
const down = refuses(503, { 'x-amzn-errortype': 'ServiceUnavailableException' });

beforeAll(async () => {
  clouds = await Clouds.start();
  ({ eu, us, vertex, claude, azure } = clouds);
  for (const [name, value] of Object.entries(clouds.env)) vi.stubEnv(name, value);
  service = await startService({ ...clouds.catalog, env: clouds.env });
  ({ key } = await service.createKey());
});
afterAll(async () => {
  await service.stop();
  vi.unstubAllEnvs();
  await clouds.stop();
});

beforeEach(() => {
  clouds.answer();
});

async function ask(path: string, body: object): Promise<{ status: number; raw: string }> {
  const { status, raw } = await stream(service.origin, { key, path, body });
  return { status, raw };
}
const chat = () => ask('/api/v1/chat/stream', { model: CLOUD_MODEL });

describe.each(CLOUD_REQUESTS)('one model over three clouds, at %s', (path, body) => {
  it('answers from the first region, and fails over from cloud to cloud', async () => {
    const outages: readonly (readonly [ScriptedProvider | undefined, string])[] = [
      [undefined, 'Hello from eu-central-1'],
      [eu, 'Hello from us-east-1'],
      [us, 'Hello from Claude'],
      [claude, 'Hello from Gemini'],
      [vertex, 'Hello from Azure'],
    ];
    for (const [provider, text] of outages) {
      provider?.answers(down);
      const { status, raw } = await ask(path, body);
      expect([status, raw.includes(text)], raw).toEqual([200, true]);
    }
    expect(eu.calls[0]?.path).toBe(`/model/${encodeURIComponent(PROFILE)}/converse-stream`);
    expect(us.calls[0]?.path).toBe(`/model/${encodeURIComponent(ARN)}/converse-stream`);
    const place = '/v1/projects/p-1/locations/eu/publishers';
    expect(claude.calls[0]?.path).toBe(`${place}/anthropic/models/claude-haiku-4-5@20251001:streamRawPredict`);
    expect(vertex.calls[0]?.path).toBe(`${place}/google/models/gemini-3:streamGenerateContent?alt=sse`);
    expect(azure.calls[0]?.path).toBe('/openai/v1/chat/completions');
    expect(azure.calls[0]?.json.model).toBe('my-deployment');
  });
});

describe('an answer of Bedrock', () => {
  it('arrives byte by byte as it is', async () => {
    const bytes = converseAnswer([[{ text: 'Grüße ' }, { text: '👋' }]]);
    eu.answers(async (call) => {
      call.head(200, EVENT_STREAM);
      for (const byte of bytes) {
        call.write(Buffer.of(byte));
        await new Promise(setImmediate);
      }
      call.end();
    });
    const { raw } = await chat();
    const contents = [...raw.matchAll(/"content":"([^"]*)"/g)].map(([, content]) => content).join('');
    expect([contents, raw.includes('"done":true')]).toEqual(['Grüße 👋', true]);
  });

  it('without a header of the caller, and with a signature of what is sent', async () => {
    await stream(service.origin, {
      key,
      body: { model: CLOUD_MODEL },
      headers: { 'x-amz-meta': 'evil', 'x-team': 'blue' },
    });
    expect(eu.calls[0]?.headers).not.toHaveProperty('x-amz-meta');
    expect(eu.calls[0]?.headers).not.toHaveProperty('x-team');
  });

  it('that breaks with an exception before its first text leads to the next region', async () => {
    for (const type of ['throttlingException', 'modelStreamErrorException', 'serviceUnavailableException']) {
      eu.answers(clouds.bedrock('eu-central-1', converseException(type, { message: 'slow' })));
      expect((await chat()).raw).toContain('Hello from us-east-1');
    }
  });

  it('that breaks with an exception after its first text is never complete', async () => {
    const text = converseEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Hel' } });
    const bytes = Buffer.concat([text, converseException('modelStreamErrorException', { message: 'x' })]);
    eu.answers(clouds.bedrock('eu-central-1', bytes));
    const { raw } = await chat();
    expect(raw).toContain('event: error');
    expect(raw).not.toContain('"done":true');
  });

  it('with a bad frame leads to the next region at once, although the connection stays open', async () => {
    const bytes = converseEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Hel' } });
    bytes[1] = 0x7f;
    eu.answers((call) => void call.head(200, EVENT_STREAM).write(bytes));
    expect((await chat()).raw).toContain('Hello from us-east-1');
  });

  it('that is JSON with the status 200 leads to the next region', async () => {
    const unknown = '{"Output":{"__type":"com.amazon.coral.service#UnknownOperationException"},"Version":"1.0"}';
    eu.answers(refuses(200, {}, unknown));
    expect((await chat()).raw).toContain('Hello from us-east-1');
  });

  it('that a guardrail has cut is filtered content', async () => {
    const bytes = converseAnswer([[{ text: 'Sorry.' }]], 'guardrail_intervened');
    eu.answers(clouds.bedrock('eu-central-1', bytes));
    expect((await chat()).raw).toContain('content_filtered');
  });
});

describe('a filter of Azure', () => {
  beforeEach(() => {
    for (const provider of [eu, us, claude, vertex]) provider.answers(down);
  });

  it('that refuses the prompt is a fault of the request', async () => {
    const error = { message: 'The response was filtered.', type: null, param: 'prompt', code: 'content_filter' };
    azure.answers(refuses(400, {}, JSON.stringify({ error })));
    const { status, raw } = await chat();
    expect([status, raw.includes('upstream_rejected')]).toEqual([400, true]);
  });

  it('that cuts the answer ends it as filtered', async () => {
    azure.answers((call) => {
      call.head().text('Hel').finish('content_filter').endMarker().end();
    });
    expect((await chat()).raw).toContain('content_filtered');
  });
});
