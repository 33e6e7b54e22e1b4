import type { GenerationOptions, RouteConfig, UpstreamConfig } from '../../plugin-api/core/config.js';
import { context, SpanKind, SpanStatusCode, type Attributes, type Span, type Tracer } from '@opentelemetry/api';
import type { AttemptSpan, AttemptTrace, AttemptTracer, CallTrace, ChatCall } from '../../plugin-api/core/upstreams.js';
import { headersOf } from './request-spans.js';

/** The names of the GenAI conventions by the host of the provider. */
const BY_HOST: readonly (readonly [host: RegExp, name: string])[] = [
  [/(?:^|\.)api\.openai\.com$/, 'openai'],
  [/\.openai\.azure\.com$/, 'azure.ai.openai'],
  [/\.(?:inference|services|models)\.ai\.azure\.com$/, 'azure.ai.inference'],
  [/(?:^|\.)anthropic\.com$/, 'anthropic'],
  [/^generativelanguage\.googleapis\.com$/, 'gcp.gemini'],
  [/aiplatform\.googleapis\.com$/, 'gcp.vertex_ai'],
  [/(?:^|\.)x\.ai$/, 'x_ai'],
  [/(?:^|\.)mistral\.ai$/, 'mistral_ai'],
  [/(?:^|\.)deepseek\.com$/, 'deepseek'],
  [/(?:^|\.)groq\.com$/, 'groq'],
  [/(?:^|\.)perplexity\.ai$/, 'perplexity'],
  [/(?:^|\.)cohere\.(?:com|ai)$/, 'cohere'],
  [/^bedrock.*\.amazonaws\.com$/, 'aws.bedrock'],
];

/** The names of the GenAI conventions for the upstreams of the built-in catalog, which may be reached through a proxy. */
const BY_UPSTREAM: Readonly<Record<string, string>> = {
  google: 'gcp.gemini',
  xai: 'x_ai',
  mistral: 'mistral_ai',
  deepseek: 'deepseek',
  groq: 'groq',
  azure: 'azure.ai.openai',
};

/** The names by protocol. The conventions use the name of the interface if the provider behind it is not known. */
const BY_PROTOCOL: Readonly<Record<string, string>> = { gemini: 'gcp.gemini' };

/** Returns the value of `gen_ai.provider.name` for an upstream, by the conventions of OpenTelemetry for generative AI. */
export function providerNameOf({ name, protocol, baseUrl }: UpstreamConfig): string {
  const host = baseUrl?.hostname ?? '';
  const known = BY_HOST.find(([pattern]) => pattern.test(host))?.[1];
  return known ?? BY_UPSTREAM[name] ?? BY_PROTOCOL[protocol] ?? protocol;
}

/**
 * Creates a span for each attempt at a provider, by the conventions of OpenTelemetry for generative AI. Adds the context of
 * the span to the request to the provider. Spans never contain text of a conversation.
 */
export class AttemptSpans implements AttemptTracer {
  constructor(private readonly tracer: Tracer) {}

  begin(attempt: AttemptTrace, trace: CallTrace, { upstream, model }: RouteConfig, call: ChatCall): AttemptSpan {
    const span = this.tracer.startSpan(
      `chat ${model}`,
      {
        kind: upstream.baseUrl === undefined ? SpanKind.INTERNAL : SpanKind.CLIENT,
        attributes: attributesOf(upstream, call),
      },
      context.active(),
    );
    return {
      headers: headersOf(span.spanContext()),
      onEnd: () => {
        end(span, attempt, trace);
      },
    };
  }
}

function attributesOf(upstream: UpstreamConfig, { model, options, maxTokens }: ChatCall): Attributes {
  const { name, baseUrl } = upstream;
  return {
    'chat.upstream': name,
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': providerNameOf(upstream),
    'gen_ai.request.model': model,
    'gen_ai.request.stream': true,
    ...optionAttributes(options),
    ...(maxTokens === undefined ? {} : { 'gen_ai.request.max_tokens': maxTokens }),
    ...(baseUrl === undefined ? {} : { 'server.address': baseUrl.hostname, 'server.port': portOf(baseUrl) }),
  };
}

/** Leaves out texts, such as the stop texts, because spans contain no text of a conversation. */
function optionAttributes(options: GenerationOptions): Attributes {
  const numbers = Object.entries(options).filter(([, value]) => typeof value === 'number');
  return Object.fromEntries(numbers.map(([option, value]) => [`gen_ai.request.${option}`, value as number]));
}

function end(span: Span, { code, firstTextMs }: AttemptTrace, { usage, finish }: CallTrace): void {
  setCount(span, 'gen_ai.usage.input_tokens', usage.inputTokens);
  setCount(span, 'gen_ai.usage.cache_read.input_tokens', usage.cachedInputTokens);
  setCount(span, 'gen_ai.usage.cache_creation.input_tokens', usage.cacheWriteInputTokens);
  setCount(span, 'gen_ai.usage.output_tokens', usage.outputTokens);
  // Use the reason of this service, because a finish reason of a provider can be any text.
  if (finish !== undefined) span.setAttribute('gen_ai.response.finish_reasons', [finish.reason]);
  if (firstTextMs !== undefined) span.setAttribute('gen_ai.response.time_to_first_chunk', firstTextMs / 1000);
  if (code !== undefined) {
    span.setAttribute('error.type', code);
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}

/** Sets a count. Leaves out invalid counts, because a provider may report any number. */
function setCount(span: Span, name: string, count: number | undefined): void {
  if (Number.isSafeInteger(count)) span.setAttribute(name, Number(count));
}

function portOf({ port, protocol }: URL): number {
  if (port !== '') return Number(port);
  return protocol === 'https:' ? 443 : 80;
}
