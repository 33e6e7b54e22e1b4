import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { VerifiedOperatorKey } from '../../accounts/operator-keys/operator-key-verifier.js';
import './operator-access.js';

/** Parameter decorator: the operator key that makes the request. Only for routes that are `@OperatorApi()`. */
export const CurrentOperator = createParamDecorator((_: unknown, context: ExecutionContext): VerifiedOperatorKey => {
  const { operatorKey } = context.switchToHttp().getRequest<Request>().context;
  if (operatorKey === undefined) throw new Error('The request has no operator key: its route is not @OperatorApi().');
  return operatorKey;
});
