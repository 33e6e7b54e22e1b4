import {
  Inject,
  Injectable,
  applyDecorators,
  Body,
  Controller,
  Header,
  HttpCode,
  Param,
  Req,
  RequestMapping,
  RequestMethod,
  type Type,
} from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { Request } from 'express';
import { randomUUID } from 'node:crypto';
import { accountIdOf, type CascadeOptions, OperatorRequests } from '../../../plugin-api/core/accounts.js';
import { authorOf, bearerTokenIn, operatorOf, linkOrigin, OperatorApi } from '../../../plugin-api/core/auth.js';
import {
  canonicalJson,
  type Clock,
  CLOCK,
  ServiceError,
  type BuiltInErrorCode,
} from '../../../plugin-api/core/common.js';
import { type Config, CONFIG } from '../../../plugin-api/core/config.js';
import { ApiErrors, ApiHeader, ApiOperation, ApiQuery, ApiResponse, OnlyIf } from '../../../plugin-api/core/http.js';
import { RateLimited } from '../../../plugin-api/core/throttling.js';
import {
  type ApiInput,
  type Creation,
  type Operation,
  cascadeInQuery,
  type QueryValues,
  CASCADE_PARAMETERS,
} from '../operations/operation.js';

const IDEMPOTENCY_KEY = 'Idempotency-Key';
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

/** Creates the controller with the routes of operations. All their requests count against the budget of their operator key. */
export function controllerOf(operations: readonly Operation[]): Type<object> {
  @Controller('admin')
  @OperatorApi()
  @RateLimited('operator_api')
  class OperationsController {
    constructor(readonly runner: OperationRunner) {}
  }
  for (const operation of operations) addRoute(OperationsController, operation);
  return OperationsController;
}

interface RoutesOfOperations {
  readonly runner: OperationRunner;
}

function addRoute(controller: Type<RoutesOfOperations>, operation: Operation): void {
  const prototype = controller.prototype as object;
  const { id, body } = operation;
  function handler(this: RoutesOfOperations, request: Request, given?: object): Promise<unknown> {
    return this.runner.run(operation, request, given);
  }
  Object.defineProperty(handler, 'name', { value: id });
  Object.defineProperty(prototype, id, { value: handler, writable: true, configurable: true });
  const [method, path] = operation.route.split(' ') as [keyof typeof RequestMethod, string];
  const names = Array.from(path.matchAll(/:(\w+)/g), ([, name = '']) => name);
  // The request, the body, and the parameters of the path, which only the OpenAPI document needs.
  Req()(prototype, id, 0);
  if (body !== undefined) Body()(prototype, id, 1);
  for (const [index, name] of names.entries()) Param(name)(prototype, id, index + 2);
  Reflect.defineMetadata('design:paramtypes', [Object, body ?? Object, ...names.map(() => String)], prototype, id);
  const decorate = applyDecorators(
    RequestMapping({ path, method: RequestMethod[method] }),
    Header('Cache-Control', 'no-store'),
    HttpCode(statusOf(operation)),
    ...(operation.condition === undefined ? [] : [OnlyIf(operation.condition)]),
    ...descriptionOf(operation, method, names),
  );
  decorate(prototype, id, Object.getOwnPropertyDescriptor(prototype, id));
}

function statusOf({ status, answer }: Operation): number {
  return status ?? (answer === undefined ? 204 : 200);
}

/** Describes an operation in the OpenAPI document. */
function descriptionOf(operation: Operation, method: string, names: readonly string[]): MethodDecorator[] {
  const { id, summary, description, body, answer, filters, takesCascade = false, isIdempotent = false } = operation;
  const errors = new Map<BuiltInErrorCode, boolean>([
    ['invalid_request', body !== undefined || takesCascade || filters !== undefined],
    ['forbidden', method !== 'GET'],
    ['not_found', names.length > 0 && filters === undefined],
    ['idempotency_conflict', isIdempotent],
  ]);
  const queries = filters === undefined ? [] : [...Object.entries(filters).map(filter), ...PAGING];
  return [
    ApiOperation({ operationId: id, summary, ...(description !== undefined && { description }) }),
    ...(isIdempotent ? [ApiHeader(IDEMPOTENCY_HEADER)] : []),
    ...[...queries, ...(takesCascade ? CASCADE_QUERIES : [])].map((query) => ApiQuery({ required: false, ...query })),
    ApiResponse({
      status: statusOf(operation),
      ...(answer === undefined ? { description: 'Done.' } : { type: answer }),
    }),
    ApiErrors(...[...errors].filter(([, has]) => has).map(([code]) => code), 401, 429, 'unavailable'),
  ];
}

const IDEMPOTENCY_HEADER = {
  name: IDEMPOTENCY_KEY,
  required: false,
  schema: { type: 'string', maxLength: 255 },
  description:
    'A repeated request with the same key and body, within 24 hours, creates nothing again. It returns what exists, without ' +
    'its secret, and has the header `Idempotency-Replayed: true`.',
} as const;

const filter = ([name, description]: [string, string]) =>
  ({ name, schema: { type: 'string' as const }, description }) as const;

const PAGING = [
  {
    name: 'limit',
    schema: { type: 'integer', minimum: 1, maximum: 200, default: 50 },
    description:
      'The most entries of the page. A page can have fewer entries, and even none, although another page follows.',
  },
  { name: 'cursor', schema: { type: 'string' }, description: 'The `next_cursor` of the page before.' },
] as const;

const CASCADE_QUERIES = Object.entries(CASCADE_PARAMETERS).map(
  ([name, description]) => ({ name, schema: { type: 'boolean', default: false }, description }) as const,
);
