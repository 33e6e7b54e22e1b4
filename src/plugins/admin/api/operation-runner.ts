import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { Request } from 'express';
import { accountIdOf, type CascadeOptions, OperatorRequests } from '../../../plugin-api/core/accounts.js';
import { authorOf, bearerTokenIn, operatorOf, linkOrigin } from '../../../plugin-api/core/auth.js';
import { canonicalJson, type Clock, CLOCK, ServiceError } from '../../../plugin-api/core/common.js';
import { type Config, CONFIG } from '../../../plugin-api/core/config.js';
import type { ApiInput, Creation, Operation } from '../operations/operation.js';
import { cascadeInQuery, type QueryValues } from '../operations/query.js';

export const IDEMPOTENCY_KEY = 'Idempotency-Key';
const VISIBLE_ASCII = /^[\x21-\x7e]{1,255}$/;

/** The members of a body that say what else ends with an operator. */
interface CascadeBody {
  readonly keep_made?: boolean;
  readonly end_operators?: boolean;
}

/** Runs the operations that requests to the API ask for. */
@Injectable()
export class OperationRunner {
  constructor(
    private readonly services: ModuleRef,
    private readonly requests: OperatorRequests,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /** Returns the body of the response. `undefined`: the response has none. */
  async run(operation: Operation, request: Request, body?: object): Promise<unknown> {
    const result = await operation.run(this.inputOf(request, body) as ApiInput<never>);
    if (operation.answer === undefined) return undefined;
    return operation.show === undefined ? result : operation.show(result);
  }

  private inputOf(request: Request, body?: object): ApiInput {
    const params = request.params as Readonly<Record<string, string>>;
    const query = request.query as QueryValues;
    return {
      get: (token) => this.services.get(token, { strict: false }),
      get account() {
        return { id: accountIdOf(params['account_id'] ?? '') };
      },
      id: Object.values(params).at(-1) ?? '',
      body,
      get cascade(): CascadeOptions {
        if (body === undefined) return cascadeInQuery(query);
        const { keep_made: keepMade, end_operators: endOperators } = body as CascadeBody;
        return { keepMade, endOperators };
      },
      query,
      author: authorOf(request),
      operatorId: operatorOf(request).id,
      now: this.now,
      once: (creation) => this.createOnce(request, creation),
      linkTo: (path) => `${linkOrigin(this.config, request)}${path}`,
    };
  }

  /**
   * Creates something, and only once if the request has an `Idempotency-Key`. If an earlier request with the same key has created it,
   * the response has the header `Idempotency-Replayed`.
   *
   * @throws {ServiceError} `idempotency_conflict` when the key was used for another request; the errors of `create`, after which
   * the key can be used again.
   */
  private async createOnce<T>(request: Request, { find, create }: Creation<T>): Promise<T> {
    const idempotencyKey = request.get(IDEMPOTENCY_KEY);
    if (idempotencyKey === undefined) return create(randomUUID());
    if (!VISIBLE_ASCII.test(idempotencyKey)) throw invalidKey();
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
  return new ServiceError('invalid_request', `The header ${IDEMPOTENCY_KEY} ${message}.`, {
    details: [{ field: IDEMPOTENCY_KEY, message }],
  });
}
