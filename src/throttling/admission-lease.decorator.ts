import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { leaseOf, type HeldLease } from './held-lease.js';

/** The `HeldLease` of this request, or `undefined` when the tier has no limits or the route is not `@LimitedByTier()`. */
export const AdmissionLease = createParamDecorator((_: unknown, context: ExecutionContext): HeldLease | undefined =>
  leaseOf(context.switchToHttp().getRequest<object>()),
);
