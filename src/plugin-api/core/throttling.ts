// What plugins use of throttling.
export { limitsOf } from '../../throttling/account-limits.js';
export { RateLimited } from '../../throttling/request-rates.js';
export { LimitFallback } from '../../throttling/limit-fallback.js';
export { type LimitState, type LimitStates, LimitStore } from '../../throttling/limit-store.js';
export { LimitedByTier, OpensStream, ShowsLimits } from '../../throttling/limited-by-tier.decorator.js';
export { StreamSlots } from '../../throttling/process-load/stream-slots.js';
export { setHeaders } from '../../throttling/limit-response.js';
export { RepeatedRequests, RequestLimiter } from '../../throttling/request-limiter.js';
