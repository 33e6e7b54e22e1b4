import type { Response } from 'express';
import { ServiceError } from '../common/service-error.js';
import type { LimitState, Refusal } from './limit-store.js';

/** Sets the headers with the remaining requests and tokens, for admitted and for refused requests. */
export function setLimitHeaders(response: Response, prefix: string, { requests, tokens }: LimitState): void {
  for (const [limit, suffix] of [
    [requests, ''],
    [tokens, '-Tokens'],
  ] as const) {
    if (limit === undefined) continue;
    response.setHeader(`${prefix}-Limit${suffix}`, limit.limit);
    response.setHeader(`${prefix}-Remaining${suffix}`, limit.remaining);
    response.setHeader(`${prefix}-Reset${suffix}`, limit.resetSeconds);
  }
}

/** @param needed the fewest tokens that the request needs, or `undefined` when the body has not been read. */
export function refusalError(
  { refusedBy, retryAfterSeconds, state }: Refusal,
  needed: number | undefined,
): ServiceError {
  switch (refusedBy) {
    case 'requests': {
      const message = `The tier allows ${state.requests?.limit ?? 0} requests per minute.`;
      return new ServiceError('rate_limit_exceeded', message, { retryAfterSeconds });
    }
    case 'streams': {
      const message = `The tier allows ${state.streams?.limit ?? 0} concurrent streams.`;
      return new ServiceError('concurrency_limit_exceeded', message, { retryAfterSeconds });
    }
    case 'tokens': {
      const {
        limit = 0,
        remaining = 0,
        renewsAt = new Date(Date.now() + retryAfterSeconds * 1000),
      } = state.tokens ?? {};
      const renewal = renewsAt.toISOString().replace(/\.\d+/, '');
      const need = needed === undefined ? '' : `, and this request needs ${needed}`;
      const message = `The tier allows ${limit} tokens per day. ${remaining} remain until ${renewal}${need}.`;
      return new ServiceError('quota_exceeded', message, { retryAfterSeconds });
    }
  }
}
