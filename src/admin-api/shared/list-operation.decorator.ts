import { applyDecorators, Header, type Type } from '@nestjs/common';
import { ApiErrors } from '../../http/open-api/api-errors.decorator.js';
import { ApiOkResponse, ApiOperation, ApiQuery } from '../../http/open-api/api-decorators.js';

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
