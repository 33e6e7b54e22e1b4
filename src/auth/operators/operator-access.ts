import { applyDecorators, Injectable, SetMetadata } from '@nestjs/common';
import type { Request } from 'express';
import { OperatorKeyVerifier, type VerifiedOperatorKey } from '../../accounts/operator-keys/operator-key-verifier.js';
import { ServiceError } from '../../platform/common/service-error.js';
import { INVALID_TOKEN_CHALLENGE, unauthenticated } from '../bearer/bearer-header.js';
import { networkOf } from '../network/client-network.js';
import { ApiBearerAuth, ApiTags, OPERATOR_SECURITY } from '../../platform/http/open-api/api-decorators.js';
import { Public } from '../../platform/http/routing/route-decorators.js';

declare module '../../platform/http/request/request-context.js' {
  interface RequestContext {
    /** The operator key that makes the request. */
    operatorKey?: VerifiedOperatorKey;
  }
}

const READING_METHODS = new Set(['GET', 'HEAD']);
const BEARER_TOKEN = /^bearer +(\S+) *$/i;

/** Returns the token of the header, whatever the case of its scheme and its spaces. An empty text: it has none. */
export function bearerTokenIn(authorization = ''): string {
  return BEARER_TOKEN.exec(authorization)?.[1] ?? '';
}

/** Accepts the requests of operator keys to the API for operators. */
@Injectable()
export class OperatorAccess {
  constructor(private readonly keys: OperatorKeyVerifier) {}

  /**
   * Sets the operator key of the request.
   *
   * @throws {ServiceError} `unauthenticated` without a valid key; `forbidden` when the scope of the key does not allow the method;
   * `rate_limit_exceeded` when the network sends too many unknown keys; `unavailable`.
   */
  async accept(request: Request): Promise<void> {
    const { authorization } = request.headers;
    if (authorization === undefined) {
      throw unauthenticated('Send an operator key as "Authorization: Bearer <operator key>".');
    }
    const token = bearerTokenIn(authorization);
    const key = await this.keys.verify(token, () => networkOf(request.ip));
    if (key === undefined) {
      throw unauthenticated('The operator key is unknown, expired or revoked.', INVALID_TOKEN_CHALLENGE);
    }
    request.context.operatorKey = key;
    if (key.scope !== 'write' && !READING_METHODS.has(request.method)) {
      throw new ServiceError('forbidden', 'This operator key may only read. Use a key with the scope "write".');
    }
  }
}

export const OPERATOR_API = Symbol('OPERATOR_API');

/**
 * Opens all routes of a controller to operator keys, and to no other credential. `GET` needs a key of any scope, and every other
 * method needs the scope `write`. See `OperatorAccess`.
 */
export const OperatorApi = (): ClassDecorator =>
  applyDecorators(
    // For the guard of ordinary credentials. The guard then asks for an operator key instead.
    Public(),
    SetMetadata(OPERATOR_API, true),
    ApiBearerAuth(OPERATOR_SECURITY),
    ApiTags('Operators'),
  );

/** Returns the operator key that makes the request. Only for routes that are `@OperatorApi()`. */
export function operatorOf({ context: { operatorKey } }: Request): VerifiedOperatorKey {
  if (operatorKey === undefined) throw new Error('The request has no operator key: its route is not @OperatorApi().');
  return operatorKey;
}
