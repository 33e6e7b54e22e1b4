import type { AttemptTrace } from '../../upstreams/completion/call-trace.js';
import type { FailureCause } from '../../upstreams/contract/provider-failure.js';
import { ledgerText } from './ledger-text.js';

/** An attempt as the ledger stores it. */
interface StoredAttempt {
  readonly upstream: string;
  /** The error code. Missing: the attempt did not fail. */
  readonly code?: string;
  /** Why the attempt failed. Only operators see it. */
  readonly cause?: FailureCause;
  /** From the start of the attempt to its end, in milliseconds. `null`: unknown. */
  readonly duration_ms: number | null;
}

/** The maximum number of stored attempts. A model has few routes, and each attempt uses another route. */
const MAX_ATTEMPTS = 100;

/** Returns the attempts as JSON. */
export function storedAttempts(attempts: readonly AttemptTrace[]): string {
  return JSON.stringify(attempts.slice(0, MAX_ATTEMPTS).map(storedAttempt));
}

/** Reads the text of {@link storedAttempts}. An earlier version of the service has stored none. */
export function readAttempts(stored: string | null): readonly StoredAttempt[] {
  return stored === null ? [] : (JSON.parse(stored) as StoredAttempt[]);
}

function storedAttempt({ upstream, code, cause, durationMs }: AttemptTrace): StoredAttempt {
  return {
    upstream: ledgerText(upstream),
    ...(code !== undefined && { code: ledgerText(code) }),
    ...(cause !== undefined && { cause }),
    duration_ms: durationMs === undefined ? null : Math.round(durationMs),
  };
}
