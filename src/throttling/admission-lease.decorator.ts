import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { RequestLease } from './request-lease.js';

/**
 * The `RequestLease` of this request, or `undefined` when the tier has no limits or the route is not `@LimitedByTier()`.
 *
 * @since 1.0
 */
export const AdmissionLease = createParamDecorator(
  (_: unknown, context: ExecutionContext): RequestLease | undefined =>
    context.switchToHttp().getRequest<Request>().context.lease,
);
