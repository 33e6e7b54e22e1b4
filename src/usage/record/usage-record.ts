import { factsOf, isDefinedCode, ServiceError, type ErrorCode } from '../../platform/common/service-error.js';
import type { AppliedPrice } from '../../platform/config/config.js';
import type { AttemptTrace } from '../../upstreams/completion/call-trace.js';
import { CLIENT_GONE } from '../../upstreams/completion/part-stream.js';

export const STREAM_OUTCOMES = [
  /** The provider marked the answer as complete, and the whole answer was passed to the client's connection. */
  'completed',
  /** The client left before the end of the answer, or cancelled its durable stream. */
  'client_gone',
  /** The provider failed or stopped, before the first text or after it. */
  'upstream_failed',
  /** The provider or the protocol rejected the request. */
  'rejected',
  /** A time limit expired: for the connection, for the first text, or for the next sign of an answer. */
  'timed_out',
  /** The API key or the session ended during the stream. */
  'revoked',
  /** The process stopped, and its grace period was over. */
  'drained',
  /** The service had an internal error. */
  'failed',
  /** The process was killed, or was cut off from the other replicas for so long that they have ended its durable stream. */
  'interrupted',
] as const;

/** The result of an admitted stream. */
export type StreamOutcome = (typeof STREAM_OUTCOMES)[number];

/** The outcomes that count as failures. A client that leaves, and a key or session that ends, are not failures. */
export const FAILED_OUTCOMES: readonly StreamOutcome[] = [
  'upstream_failed',
  'rejected',
  'timed_out',
  'drained',
  'failed',
  'interrupted',
];

/** Whether the service has seen the failure. Of an interrupted stream nobody knows what its provider has sent. */
export function isSeenFailure(outcome: StreamOutcome): boolean {
  return outcome !== 'interrupted' && FAILED_OUTCOMES.includes(outcome);
}

/**
 * Returns the outcome of a stream.
 *
 * @param failure the reason why the completion is not complete. `undefined`: the completion is complete.
 */
export function streamOutcomeOf(failure: unknown): StreamOutcome {
  if (failure === undefined) return 'completed';
  if (failure === CLIENT_GONE) return 'client_gone';
  if (!(failure instanceof ServiceError)) return 'failed';
  switch (failure.code) {
    case 'cancelled':
      return 'client_gone';
    case 'key_revoked':
      return 'revoked';
    case 'shutting_down':
      return 'drained';
    case 'interrupted':
      return 'interrupted';
    case 'upstream_timeout':
      return 'timed_out';
    case 'upstream_error':
    case 'upstream_unavailable':
      return 'upstream_failed';
    case 'upstream_rejected':
    case 'content_filtered':
    case 'invalid_request':
      return 'rejected';
    default:
      // The service's own other codes never end a stream. A plugin's code may.
      return isDefinedCode(failure.code) && factsOf(failure.code).fault === 'caller' ? 'rejected' : 'failed';
  }
}

/** A number of tokens and its source. An unknown number is `undefined`. */
export type TokenCount =
  | { readonly source: 'reported' | 'estimated'; readonly count: number }
  /** The provider reported an implausible number. The count is an estimate, or `undefined` without a text for an estimate. */
  | { readonly source: 'implausible'; readonly count: number | undefined; readonly reported: number }
  | { readonly source: 'unknown'; readonly count?: undefined };

/** The account and the credential of a stream, as the ledger stores them. */
export interface UsageClient {
  readonly accountId: string;
  readonly credential: 'api_key' | 'session' | 'external';
  /** The id of the API key. `undefined` for other credentials. */
  readonly keyId: string | undefined;
  /** The public part of the API key. `undefined` for other credentials. */
  readonly keyPrefix: string | undefined;
}

/** The facts about an admitted stream at its start. */
export interface StartedStream extends UsageClient {
  /** The unique id of this record. A client may send the same request id twice, so `requestId` is not unique. */
  readonly id: string;
  readonly requestId: string;
  readonly model: string;
  /** The start of the stream, in milliseconds since 1970. `firstTextAt` and `endedAt` have the same unit. */
  readonly startedAt: number;
  /** True for a durable stream, which is generated regardless of the connection of its client. */
  readonly detached?: boolean | undefined;
  /** The name of the surface that the client has used. `undefined`: `POST /chat/stream`, or no surface. */
  readonly surface?: string | undefined;
}

/**
 * The record of one admitted stream that is over, however it ended. Each stream has exactly one record.
 *
 * @since 1.0
 */
export interface UsageRecord extends StartedStream {
  /** The upstream that answered or that failed last. `undefined`: no upstream was called. */
  readonly upstream: string | undefined;
  /** The attempts in order. The last attempt belongs to `upstream`. */
  readonly attempts: readonly AttemptTrace[];
  /** The time of the first text. `undefined`: there was no text, or the process was killed. */
  readonly firstTextAt: number | undefined;
  /** The end of the stream. `undefined`: the end is unknown, because the process was killed. */
  readonly endedAt: number | undefined;
  readonly outcome: StreamOutcome;
  /** The code of the `ServiceError` that ended the stream, which the client received. `undefined`: any other end. */
  readonly errorCode: ErrorCode | undefined;
  /** The reason for the end of the answer: a known finish reason of the provider, or the service's own word. */
  readonly finishReason: string | undefined;
  /** All tokens of the prompt, with the tokens from the provider's cache. */
  readonly inputTokens: TokenCount;
  /** The part of `inputTokens` that the provider has read from its cache, as reported. `undefined`: not reported. */
  readonly cachedInputTokens?: number | undefined;
  /** The part of `inputTokens` that the provider has written to its cache, as reported. `undefined`: not reported. */
  readonly cacheWriteInputTokens?: number | undefined;
  /** All tokens of the answer, with the reasoning. */
  readonly outputTokens: TokenCount;
  /** The part of `outputTokens` that is reasoning, as reported. `undefined`: not reported. */
  readonly reasoningOutputTokens?: number | undefined;
  /** The number of complete tool calls of the answer. `undefined`: unknown, because the process was killed. */
  readonly toolCalls?: number | undefined;
  /** The price that applied at the end of the stream. `undefined`: the model has no price. */
  readonly price: AppliedPrice | undefined;
  /** The cost by that price, in whole millionths of the currency unit. `undefined`: a price or a count is unknown. */
  readonly costMicros: number | undefined;
}
