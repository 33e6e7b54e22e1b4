import { ServiceError } from '../../common/service-error.js';
import { CLIENT_GONE } from '../../upstreams/completion-stream.js';

export const STREAM_OUTCOMES = [
  /** The vendor said that the answer is whole, and all of it was handed to the client's connection. */
  'completed',
  /** The client left before that. */
  'client_gone',
  /** The vendor failed, or broke off, before the first text or after it. */
  'upstream_failed',
  /** The vendor, or the protocol, refused the request itself. */
  'rejected',
  /** No connection, no first or no next sign of an answer in time. */
  'timed_out',
  /** The key or the session ended meanwhile. */
  'revoked',
  /** The process stopped, and its grace was over. */
  'drained',
  /** A fault of the service. */
  'failed',
  /** The process was killed. */
  'interrupted',
] as const;

/** How an admitted stream ended. */
export type StreamOutcome = (typeof STREAM_OUTCOMES)[number];

/** Those that are somebody's fault: not the client's leaving, and not a key that was ended on purpose. */
export const FAILED_OUTCOMES: readonly StreamOutcome[] = [
  'upstream_failed',
  'rejected',
  'timed_out',
  'drained',
  'failed',
  'interrupted',
];

/** @param failure why the completion is not whole; `undefined` when it is. */
export function outcomeOf(failure: unknown): StreamOutcome {
  if (failure === undefined) return 'completed';
  if (failure === CLIENT_GONE) return 'client_gone';
  if (!(failure instanceof ServiceError)) return 'failed';
  switch (failure.code) {
    case 'key_revoked':
      return 'revoked';
    case 'shutting_down':
      return 'drained';
    case 'upstream_timeout':
      return 'timed_out';
    case 'upstream_error':
    case 'upstream_unavailable':
      return 'upstream_failed';
    case 'upstream_rejected':
    case 'invalid_request':
      return 'rejected';
    default:
      return 'failed';
  }
}
