import { describe, expect, it } from 'vitest';
import type { UpstreamConfig } from '../../../src/platform/config/config.js';
import { TEST_CALL as HELLO, TEST_UPSTREAM, withOptions } from '../../../src/testing/protocols/samples.js';
import type { HttpProtocol } from '../../../src/upstreams/contract/protocol.js';
import { AnthropicProtocol } from '../../../src/upstreams/protocols/anthropic/anthropic.js';
import { GeminiProtocol } from '../../../src/upstreams/protocols/gemini/gemini.js';

const gemini = new GeminiProtocol();
const anthropic = new AnthropicProtocol();

const AT_VERTEX = { ...TEST_UPSTREAM, apiKey: undefined };

/** The address of the configuration, or that of the protocol. */
function placed<Options>(protocol: HttpProtocol<Options>, options: object, baseUrl?: string): UpstreamConfig<Options> {
  const upstream = withOptions(protocol, { ...AT_VERTEX, options }) as UpstreamConfig<Options>;
  return { ...upstream, baseUrl: baseUrl === undefined ? protocol.baseUrl?.(upstream) : new URL(baseUrl) };
}

const geminiAt = (options: object, baseUrl?: string) =>
  gemini.request({ ...HELLO, model: 'gemini-3' }, placed(gemini, options, baseUrl));
const claudeAt = (options: object, baseUrl?: string) =>
  anthropic.request({ ...HELLO, model: 'claude-haiku-4-5@20251001' }, placed(anthropic, options, baseUrl));

describe('a model at Vertex AI', () => {
  it.each([
    ['europe-west1', 'https://europe-west1-aiplatform.googleapis.com'],
    ['us', 'https://aiplatform.us.rep.googleapis.com'],
    ['eu', 'https://aiplatform.eu.rep.googleapis.com'],
    ['global', 'https://aiplatform.googleapis.com'],
    [undefined, 'https://aiplatform.googleapis.com'],
  ])('in the location %s has the address of this location', (location, origin) => {
    const place = `${origin}/v1/projects/p-1/locations/${location ?? 'global'}/publishers`;
    const options = { project: 'p-1', ...(location && { location }) };
    expect(geminiAt(options).url.href).toBe(`${place}/google/models/gemini-3:streamGenerateContent?alt=sse`);
    expect(claudeAt(options).url.href).toBe(`${place}/anthropic/models/claude-haiku-4-5@20251001:streamRawPredict`);
  });

  it('behind another address keeps its path', () => {
    const options = { project: 'p-1', location: 'eu' };
    const path = '/private/v1/projects/p-1/locations/eu/publishers';
    const base = 'http://127.0.0.1:9/private/';
    expect(geminiAt(options, base).url.pathname).toBe(`${path}/google/models/gemini-3:streamGenerateContent`);
    expect(claudeAt(options, base).url.pathname).toContain(`${path}/anthropic/models/claude-haiku-4-5@20251001:`);
  });

  it('of Anthropic has the version in the body, and no name of the model', () => {
    const { headers, body } = claudeAt({ project: 'p-1' });
    const sent = JSON.parse(body) as object;
    expect(sent).toMatchObject({ anthropic_version: 'vertex-2023-10-16', stream: true, max_tokens: 4_096 });
    expect(sent).not.toHaveProperty('model');
    expect(headers).not.toHaveProperty('anthropic-version');
  });

  it.each([
    [429, 'RESOURCE_EXHAUSTED', 'upstream_unavailable'],
    [503, 'UNAVAILABLE', 'upstream_unavailable'],
    [500, 'INTERNAL', 'upstream_error'],
  ])('fails with an error %i %s inside of a stream', (code, status, expected) => {
    const data = JSON.stringify({ error: { code, message: 'because', status } });
    for (const reader of [gemini.open(), anthropic.open()]) {
      expect(reader.parts({ event: 'message', data })).toMatchObject([{ type: 'error', error: { code: expected } }]);
    }
  });
});
