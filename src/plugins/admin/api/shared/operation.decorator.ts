import { applyDecorators, Controller, Header, HttpCode, type Type } from '@nestjs/common';
import { OperatorApi } from '../../../../auth/operators/operator-access.js';
import type { BuiltInErrorCode } from '../../../../platform/common/service-error.js';
import {
  ApiHeader,
  ApiOkResponse,
  ApiOperation,
  ApiQuery,
  ApiResponse,
} from '../../../../platform/http/open-api/api-decorators.js';
import { ApiErrors } from '../../../../platform/http/open-api/api-errors.decorator.js';
import { LimitedByBudget } from '../../../../throttling/budgets/limited-by-budget.decorator.js';

/** A controller of the API for operators. All its requests count against the budget of their operator key. */
export const AdminController = (path: string): ClassDecorator =>
  applyDecorators(Controller(path), OperatorApi(), LimitedByBudget('operator_api'));

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  /** The status of the successful response. By default 200. */
  readonly status?: 200 | 201 | 204;
  /** The class of the body of the successful response. */
  readonly type?: Type;
  /** The errors in addition to those of every operation. */
  readonly errors?: readonly BuiltInErrorCode[];
  /** Whether the operation takes an `Idempotency-Key`. */
  readonly idempotent?: boolean;
}

/** Describes a route that returns one thing or changes something. */
export function OperationRoute({
  status = 200,
  type,
  errors = [],
  idempotent = false,
  ...operation
}: Operation): MethodDecorator {
  return applyDecorators(
    Header('Cache-Control', 'no-store'),
    HttpCode(status),
    ApiOperation(operation),
    ...(idempotent ? [ApiHeader(IDEMPOTENCY_KEY)] : []),
    ApiResponse({ status, ...(type === undefined ? { description: 'Done.' } : { type }) }),
    ApiErrors(...errors, ...(idempotent ? (['idempotency_conflict'] as const) : []), 401, 429, 'unavailable'),
  );
}

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  required: false,
  schema: { type: 'string', maxLength: 255 },
  description:
    'A repeated request with the same key and body, within 24 hours, creates nothing again. It returns what exists, without ' +
    'its secret, and has the header `Idempotency-Replayed: true`.',
} as const;

interface ListOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  /** The class of the page. */
  readonly type: Type;
  /** The parameters of the query in addition to those of every list, with their descriptions. */
  readonly filters?: Readonly<Record<string, string>>;
}

/** Describes a route that returns a list in pages. */
export function ListRoute({ type, filters = {}, ...operation }: ListOperation): MethodDecorator {
  return applyDecorators(
    Header('Cache-Control', 'no-store'),
    ApiOperation(operation),
    ...Object.entries(filters).map(([name, description]) =>
      ApiQuery({ name, required: false, schema: { type: 'string' }, description }),
    ),
    ApiQuery({
      name: 'limit',
      required: false,
      schema: { type: 'integer', minimum: 1, maximum: 200, default: 50 },
      description:
        'The most entries of the page. A page can have fewer entries, and even none, although another page follows.',
    }),
    ApiQuery({
      name: 'cursor',
      required: false,
      schema: { type: 'string' },
      description: 'The `next_cursor` of the page before.',
    }),
    ApiOkResponse({ type }),
    ApiErrors('invalid_request', 401, 429, 'unavailable'),
  );
}
