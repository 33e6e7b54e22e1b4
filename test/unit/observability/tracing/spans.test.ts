import type { Attributes, Span, Tracer } from '@opentelemetry/api';
import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { RouteConfig } from '../../../../src/config/config.js';
import type { FinishedRequest } from '../../../../src/observability/requests/finished-request.js';
import { AttemptSpans } from '../../../../src/observability/tracing/attempt-spans.js';
import { RequestSpans } from '../../../../src/observability/tracing/request-spans.js';
import { CallTrace } from '../../../../src/upstreams/completion/call-trace.js';
import type { ChatCall } from '../../../../src/upstreams/contract/chat-call.js';

const ERROR = 2;
const CALL: ChatCall = {
  model: 'acme-model',
  messages: [],
  options: {},
  maxTokens: undefined,
  modelMaxOutputTokens: undefined,
};

/** A tracer that keeps what its spans are told. */
function tracerThatKeeps() {
  const attributes: Record<string, unknown> = {};
  const statuses: number[] = [];
  const span = {
    spanContext: () => ({ traceId: '0'.repeat(31) + '1', spanId: '0'.repeat(15) + '1', traceFlags: 1 }),
    setAttribute: (name: string, value: unknown) => (attributes[name] = value),
    setStatus: ({ code }: { code: number }) => statuses.push(code),
    updateName: () => undefined,
    end: () => undefined,
  } as unknown as Span;
  const startSpan = (_: string, options?: { attributes?: Attributes }) => {
    Object.assign(attributes, options?.attributes);
    return span;
  };
  return { tracer: { startSpan } as unknown as Tracer, attributes, statuses };
}

const routeTo = (baseUrl: string) =>
  ({ model: 'acme-model', upstream: { name: 'acme', protocol: 'openai', baseUrl: new URL(baseUrl) } }) as RouteConfig;

describe('the span of an attempt', () => {
  it('has the time to the first text in seconds, and each kind of token', () => {
    const { tracer, attributes, statuses } = tracerThatKeeps();
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
    const { tracer, attributes } = tracerThatKeeps();
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
    const { tracer, attributes } = tracerThatKeeps();
    const trace = new CallTrace('r1');
    new AttemptSpans(tracer).begin(trace.beginAttempt('acme'), trace, routeTo(baseUrl), CALL);
    expect(attributes).toMatchObject({ 'server.address': 'api.example', 'server.port': port });
  });
});

describe('the span of a request', () => {
  const ofAnswer = (facts: Partial<FinishedRequest>) => {
    const { tracer, attributes, statuses } = tracerThatKeeps();
    const request = { method: 'POST', url: '/', headers: {} } as IncomingMessage;
    new RequestSpans(tracer).begin(request)?.finished({ requestId: 'r1', ...facts } as FinishedRequest);
    return { attributes, statuses };
  };

  it('is a failure where the service has failed, and not where the client has', () => {
    const failed = ofAnswer({ status: 500, errorCode: 'internal_error' });
    expect(failed).toMatchObject({ statuses: [ERROR], attributes: { 'error.type': 'internal_error' } });
    expect(ofAnswer({ status: 503 })).toMatchObject({ statuses: [ERROR], attributes: { 'error.type': '503' } });
    for (const status of [499, 429, 401, 200, undefined]) {
      const { attributes, statuses } = ofAnswer({ status });
      expect(statuses).toEqual([]);
      expect(attributes).not.toHaveProperty('error.type');
    }
  });
});
