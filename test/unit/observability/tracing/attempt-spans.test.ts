import { describe, expect, it } from 'vitest';
import type { RouteConfig } from '../../../../src/config/config.js';
import { AttemptSpans } from '../../../../src/observability/tracing/attempt-spans.js';
import { CallTrace } from '../../../../src/upstreams/completion/call-trace.js';
import type { ChatCall } from '../../../../src/upstreams/contract/chat-call.js';
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
