import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { HeldLease } from './held-lease.js';

/** The `HeldLease` of this request, or `undefined` when the tier has no limits or the route is not `@LimitedByTier()`. */
export const AdmissionLease = createParamDecorator(
  (_: unknown, context: ExecutionContext): HeldLease | undefined =>
    context.switchToHttp().getRequest<Request>().context.lease,
);
