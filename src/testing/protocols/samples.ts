import type { UpstreamConfig } from '../../platform/config/config.js';
import type { GenerationOptions } from '../../platform/config/capabilities.js';
import type { CallContext, ChatCall, HttpProtocol } from '../../upstreams/contract/protocol.js';

/**
 * An upstream with an address and the API key `secret-key`.
 *
 * @since 1.0
 */
export const TEST_UPSTREAM: UpstreamConfig = {
  name: 'acme',
  protocol: 'acme',
  baseUrl: new URL('https://api.example.com'),
  apiKey: 'secret-key',
  headers: {},
  options: undefined,
  timeouts: { connectMs: 1_000, firstTokenMs: 1_000, idleMs: 1_000 },
  maxTokensField: 'max_tokens',
  includeUsage: true,
  maxEventBytes: 1024 * 1024,
};

/** A value of each generation option. Every provider takes these values. */
export const ALL_OPTIONS: Required<GenerationOptions> = {
  temperature: 0.5,
  top_p: 0.25,
  stop: ['END'],
  seed: 7,
  presence_penalty: -1.5,
  frequency_penalty: 1.25,
};

/**
 * A request with the message `Hello` to the model `fast-1`, with the temperature 0.7.
 *
 * @since 1.0
 */
export const TEST_CALL: ChatCall = {
  model: 'fast-1',
  messages: [{ role: 'user', content: 'Hello' }],
  options: { temperature: 0.7 },
  maxTokens: undefined,
  modelMaxOutputTokens: undefined,
};

/**
 * A context whose `fetch` fails.
 *
 * @since 1.0
 */
export const TEST_CONTEXT: CallContext = {
  requestId: 'request-1',
  accountId: 'account-1',
  signal: new AbortController().signal,
  fetch: () => Promise.reject(new Error('This protocol needs no other request.')),
  afterAttempt: () => undefined,
};

/** Returns the upstream with its options as the protocol's schema converts them, with their defaults. */
export function withOptions({ options }: HttpProtocol, upstream: UpstreamConfig): UpstreamConfig {
  const result = options?.['~standard'].validate(upstream.options ?? {});
  if (result === undefined || result instanceof Promise || result.issues !== undefined) return upstream;
  return { ...upstream, options: result.value };
}
