import { applyDecorators, Header, HttpCode, type Type } from '@nestjs/common';
import type { BuiltInErrorCode } from '../../common/service-error.js';
import { ApiHeader, ApiOperation, ApiResponse } from '../../http/open-api/api-decorators.js';
import { ApiErrors } from '../../http/open-api/api-errors.decorator.js';

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
