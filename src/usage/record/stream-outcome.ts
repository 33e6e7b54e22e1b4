import { factsOf, isDefinedCode, ServiceError } from '../../platform/common/service-error.js';
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
