import type { Response } from 'express';
import type { ServiceError } from '../../common/service-error.js';
import type { SurfaceDescription } from './surface.decorator.js';

/** Clients of other APIs retry after at most this time. If a longer time is necessary, they should not retry. */
const MAX_WAIT_MS = 60_000;
/** A repetition of such a request gets the same answer. Some clients retry every error unless they are told not to. */
const NEVER_RETRIED: ReadonlySet<number> = new Set([400, 401, 403, 404, 409, 413]);

/** Applies the rules of the surface to the response. */
export function enterSurface(response: Response, surface: SurfaceDescription): void {
  const { context } = response.req;
  context.surface = surface;
  if (surface.headers === undefined || response.headersSent) return;
  for (const [name, value] of Object.entries(surface.headers(context.requestId))) response.setHeader(name, value);
}

/** Returns the headers by which clients of other APIs decide whether they retry. */
export function retryHeaders({ status, retryAfterMs }: ServiceError): Record<string, string> {
  return {
    ...(retryAfterMs !== undefined && { 'retry-after-ms': String(waitMs(retryAfterMs)) }),
    ...((NEVER_RETRIED.has(status) || (retryAfterMs ?? 0) > MAX_WAIT_MS) && { 'x-should-retry': 'false' }),
  };
}

/**
 * Returns whole milliseconds. SDKs accept a time from the server only below 60,000 ms, and otherwise retry after half a second: so a
 * minute is one millisecond shorter.
 */
function waitMs(ms: number): number {
  const whole = Math.max(1, Math.ceil(ms));
  return whole === MAX_WAIT_MS ? MAX_WAIT_MS - 1 : whole;
}
