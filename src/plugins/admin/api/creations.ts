import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { OperatorRequests } from '../../../accounts/operator-keys/operator-requests.js';
import { bearerTokenIn } from '../../../auth/operators/operator-access.js';
import { canonicalJson } from '../../../platform/common/json/canonical-json.js';
import { ServiceError } from '../../../platform/common/service-error.js';
import type { Creation } from '../operations/operation.js';

const HEADER = 'Idempotency-Key';
const KEY = /^[\x21-\x7e]{1,255}$/;

/** Creates what a request asks for, and only once if the request has an `Idempotency-Key`. */
@Injectable()
export class Creations {
  constructor(private readonly requests: OperatorRequests) {}

  /**
   * Creates something, or returns what an earlier request with the same key has created: then the response has the header
   * `Idempotency-Replayed`.
   *
   * @throws {ServiceError} `idempotency_conflict` when the key was used for another request; the errors of `create`, after which
   * the key can be used again.
   */
  async run<T>(request: Request, { find, create }: Creation<T>): Promise<T> {
    const idempotencyKey = request.get(HEADER);
    if (idempotencyKey === undefined) return create(randomUUID());
    if (!KEY.test(idempotencyKey)) throw invalidKey();
    const { originalUrl, headers } = request;
    const { createdId, isFirst, release } = await this.requests.claim({
      operatorKey: `Bearer ${bearerTokenIn(headers.authorization)}`,
      idempotencyKey,
      content: `${originalUrl} ${canonicalJson(request.body)}`,
    });
    const replayed = async (): Promise<T | undefined> => {
      const known = await find(createdId);
      if (known !== undefined) request.res?.setHeader('Idempotency-Replayed', 'true');
      return known;
    };
    if (!isFirst) {
      const known = await replayed();
      if (known !== undefined) return known;
    }
    try {
      return await create(createdId);
    } catch (error) {
      // The same request at the same time may have created it.
      const known = await replayed();
      if (known !== undefined) return known;
      if (isFirst) await release();
      throw error;
    }
  }
}

function invalidKey(): ServiceError {
  const message = 'must be 1 to 255 visible ASCII characters';
  return new ServiceError('invalid_request', `The header ${HEADER} ${message}.`, {
    details: [{ field: HEADER, message }],
  });
}
