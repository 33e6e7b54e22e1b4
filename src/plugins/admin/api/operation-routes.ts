import {
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
import type { Request } from 'express';
import { OperatorApi } from '../../../plugin-api/core/auth.js';
import type { BuiltInErrorCode } from '../../../plugin-api/core/common.js';
import { ApiErrors, ApiHeader, ApiOperation, ApiQuery, ApiResponse, OnlyIf } from '../../../plugin-api/core/http.js';
import { RateLimited } from '../../../plugin-api/core/throttling.js';
import type { Operation } from '../operations/operation.js';
import { CASCADE_PARAMETERS } from '../operations/query.js';
import { IDEMPOTENCY_KEY, OperationRunner } from './operation-runner.js';

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
