import { LabeledCounter } from '../../common/counts/labeled-counter.js';
import { ERROR_STATUS, type ErrorCode } from '../../common/service-error.js';
import type { FinishedRequest, RequestObserver } from '../requests/finished-request.js';

export const NO_ROUTE = 'none';
export const NO_ANSWER = 'none';
const KNOWN_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** The names of the tier limits by error code. The sign-in limit is not in this table, because it belongs to no tier. */
const LIMITS: Partial<Record<ErrorCode, string>> = {
  rate_limit_exceeded: 'requests_per_minute',
  concurrency_limit_exceeded: 'concurrent_streams',
  quota_exceeded: 'tokens_per_day',
};

/** Counts finished requests. */
export class RequestMetrics implements RequestObserver {
  /** The keys are `<method> <status> <route>`. */
  readonly requests = new LabeledCounter();
  readonly errors = new LabeledCounter<ErrorCode>(Object.keys(ERROR_STATUS) as ErrorCode[]);
  /** The keys are `<limit> <tier>`. */
  readonly limits = new LabeledCounter();
  bytes = 0;

  finished({ method, status, route, bytes, errorCode, principal }: FinishedRequest): void {
    const knownMethod = KNOWN_METHODS.has(method) ? method : 'other';
    this.requests.add(`${knownMethod} ${status ?? NO_ANSWER} ${route ?? NO_ROUTE}`);
    this.bytes += bytes;
    if (errorCode === undefined) return;
    this.errors.add(errorCode);
    const limit = LIMITS[errorCode];
    if (limit !== undefined)
      this.limits.add(principal === undefined ? 'sign_in none' : `${limit} ${principal.tier.name}`);
  }
}
