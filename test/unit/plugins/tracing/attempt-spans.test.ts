import { describe, expect, it } from 'vitest';
import type { RouteConfig, UpstreamConfig } from '../../../../src/platform/config/config.js';
import { AttemptSpans, providerNameOf } from '../../../../src/plugins/tracing/attempt-spans.js';
import { CallTrace } from '../../../../src/upstreams/completion/call-trace.js';
import type { ChatCall } from '../../../../src/upstreams/contract/protocol.js';
import { recordingTracer } from './recording-tracer.js';

const CALL: ChatCall = {
  model: 'acme-model',
  messages: [],
  options: {},
  maxTokens: undefined,
  modelMaxOutputTokens: undefined,
};

const routeTo = (baseUrl: string) =>
  ({ model: 'acme-model', upstream: { name: 'acme', protocol: 'openai', baseUrl: new URL(baseUrl) } }) as RouteConfig;

describe('the span of an attempt', () => {
  it('has the time to the first text in seconds, and each kind of token', () => {
    const { tracer, attributes, statuses } = recordingTracer();
    const trace = new CallTrace('r1');
    const attempt = trace.beginAttempt('acme');
    const { onEnd } = new AttemptSpans(tracer).begin(attempt, trace, routeTo('https://api.example'), CALL);
    attempt.firstTextMs = 1_500;
    trace.usage = { inputTokens: 100, cachedInputTokens: 60, cacheWriteInputTokens: 30, outputTokens: 5 };
    trace.finish = { reason: 'stop', raw: 'end_turn' };
    onEnd({ type: 'complete' });
    expect(attributes).toMatchObject({
      'gen_ai.response.time_to_first_chunk': 1.5,
      'gen_ai.usage.input_tokens': 100,
      'gen_ai.usage.cache_read.input_tokens': 60,
      'gen_ai.usage.cache_creation.input_tokens': 30,
      'gen_ai.usage.output_tokens': 5,
      'gen_ai.response.finish_reasons': ['stop'],
    });
    expect(statuses).toEqual([]);
  });

  it('leaves out counts that are none', () => {
    const { tracer, attributes } = recordingTracer();
    const trace = new CallTrace('r1');
    const attempt = trace.beginAttempt('acme');
    const { onEnd } = new AttemptSpans(tracer).begin(attempt, trace, routeTo('https://api.example'), CALL);
    trace.usage = { inputTokens: Infinity, outputTokens: 1.5, cachedInputTokens: 'a text' as unknown as number };
    onEnd({ type: 'complete' });
    expect(Object.keys(attributes).filter((name) => name.startsWith('gen_ai.usage.'))).toEqual([]);
  });

  it.each([
    ['https://api.example/v1', 443],
    ['http://api.example/v1', 80],
    ['https://api.example:8443/v1', 8443],
  ])('names the port of the provider: %s', (baseUrl, port) => {
    const { tracer, attributes } = recordingTracer();
    const trace = new CallTrace('r1');
    new AttemptSpans(tracer).begin(trace.beginAttempt('acme'), trace, routeTo(baseUrl), CALL);
    expect(attributes).toMatchObject({ 'server.address': 'api.example', 'server.port': port });
  });
});

describe('the provider name of a span', () => {
  it.each([
    ['https://api.openai.com/v1', 'openai', 'openai'],
    ['https://our-resource.openai.azure.com/openai/v1', 'openai', 'azure.ai.openai'],
    ['https://our-project.services.ai.azure.com', 'openai', 'azure.ai.inference'],
    ['https://api.anthropic.com', 'anthropic', 'anthropic'],
    ['https://generativelanguage.googleapis.com/v1beta/openai', 'openai', 'gcp.gemini'],
    ['https://europe-west4-aiplatform.googleapis.com', 'gemini', 'gcp.vertex_ai'],
    ['https://api.x.ai/v1', 'openai', 'x_ai'],
    ['https://api.mistral.ai/v1', 'openai', 'mistral_ai'],
    ['https://api.deepseek.com', 'openai', 'deepseek'],
    ['https://api.groq.com/openai/v1', 'openai', 'groq'],
    ['https://bedrock-runtime.eu-west-1.amazonaws.com', 'openai', 'aws.bedrock'],
    ['https://not-openai.com', 'anthropic', 'anthropic'],
    ['http://127.0.0.1:8000/v1', 'openai', 'openai'],
    ['http://127.0.0.1:8000', 'gemini', 'gcp.gemini'],
    ['http://127.0.0.1:11434', 'ollama', 'ollama'],
    [undefined, 'builtin', 'builtin'],
  ])('of %s with the protocol %s is %s', (url, protocol, expected) => {
    expect(providerNameOf(upstream('ours', protocol, url))).toBe(expected);
  });

  it('of an upstream of the built-in catalog stays the same behind a proxy', () => {
    expect(providerNameOf(upstream('mistral', 'openai', 'http://proxy.internal/v1'))).toBe('mistral_ai');
  });
});

function upstream(name: string, protocol: string, url: string | undefined): UpstreamConfig {
  return { name, protocol, baseUrl: url === undefined ? undefined : new URL(url) } as UpstreamConfig;
}
