import type { Response } from 'express';
import type { ServiceError } from '../../common/service-error.js';
import type { SurfaceDescription } from './surface.decorator.js';

/** Clients of other APIs retry after at most this time. If a longer time is necessary, they should not retry. */
const MAX_WAIT_SECONDS = 60;

/** Applies the rules of the surface to the response. */
export function enterSurface(response: Response, surface: SurfaceDescription): void {
  const { context } = response.req;
  context.surface = surface;
  if (surface.headers === undefined || response.headersSent) return;
  for (const [name, value] of Object.entries(surface.headers(context.requestId))) response.setHeader(name, value);
}

/** Returns the headers by which clients of other APIs decide whether they retry. */
export function retryHeaders({ status, retryAfterSeconds }: ServiceError): Record<string, string> {
  return {
    ...(retryAfterSeconds !== undefined && { 'retry-after-ms': String(retryAfterSeconds * 1_000) }),
    ...((status === 409 || (retryAfterSeconds ?? 0) > MAX_WAIT_SECONDS) && { 'x-should-retry': 'false' }),
  };
}
