import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { OperatorKeyVerifier, type VerifiedOperatorKey } from '../../accounts/operator-keys/operator-key-verifier.js';
import { ServiceError } from '../../common/service-error.js';
import { INVALID_TOKEN_CHALLENGE, unauthenticated } from '../bearer/challenge.js';
import { networkOf } from '../network/client-network.js';

declare module '../../http/request/request-context.js' {
  interface RequestContext {
    /** The operator key that makes the request. */
    operatorKey?: VerifiedOperatorKey;
  }
}

const READING_METHODS = new Set(['GET', 'HEAD']);
const BEARER_TOKEN = /^bearer +(\S+) *$/i;

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
    const token = BEARER_TOKEN.exec(authorization)?.[1] ?? '';
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
