import type * as swagger from '@nestjs/swagger';
import { LIMITS, type LimitWindow } from '../../config/limits/limit-table.js';

type Swagger = typeof swagger;
type DecoratorName = {
  [Name in keyof Swagger]: Swagger[Name] extends (
    ...parameters: never[]
  ) => MethodDecorator | PropertyDecorator | ClassDecorator
    ? Name
    : never;
}[keyof Swagger];
type Factory = (...parameters: readonly unknown[]) => (...target: readonly unknown[]) => void;

const waiting: ((library: Swagger) => void)[] = [];

/**
 * Returns the decorator of `@nestjs/swagger` with this name. The decorator takes effect when {@link applyApiDecorators} is
 * called. The library has more than 500 modules, and only the OpenAPI document needs them.
 */
function deferred<Name extends DecoratorName>(name: Name): Swagger[Name] {
  const factory: unknown =
    (...parameters: readonly unknown[]) =>
    (...target: readonly unknown[]): void => {
      waiting.push((library) => {
        (library[name] as unknown as Factory)(...parameters)(...target);
      });
    };
  return factory as Swagger[Name];
}

/** Applies all decorators of this file that have been used so far, in their order. */
export function applyApiDecorators(library: Swagger): void {
  for (const apply of waiting.splice(0)) apply(library);
}

export const ApiBearerAuth = deferred('ApiBearerAuth');
export const ApiBody = deferred('ApiBody');
export const ApiExcludeController = deferred('ApiExcludeController');
export const ApiExtraModels = deferred('ApiExtraModels');
export const ApiHeader = deferred('ApiHeader');
export const ApiNoContentResponse = deferred('ApiNoContentResponse');
export const ApiOkResponse = deferred('ApiOkResponse');
export const ApiOperation = deferred('ApiOperation');
export const ApiParam = deferred('ApiParam');
export const ApiProperty = deferred('ApiProperty');
export const ApiPropertyOptional = deferred('ApiPropertyOptional');
export const ApiQuery = deferred('ApiQuery');
export const ApiResponse = deferred('ApiResponse');
export const ApiSchema = deferred('ApiSchema');
export const ApiServiceUnavailableResponse = deferred('ApiServiceUnavailableResponse');
export const ApiTags = deferred('ApiTags');

/** The path of a schema in the document, by the name of the schema. */
export const schemaPath = (name: string): string => `#/components/schemas/${name}`;

/** The name of the security scheme of operator keys in the OpenAPI document. */
export const OPERATOR_SECURITY = 'operator';

/** The headers of responses that several operations share, for the OpenAPI document. */

const INTEGER = { type: 'integer' } as const;

export const REQUEST_ID = {
  'X-Request-Id': {
    description: 'Identifies the request in the log and in `GET /usage/streams/{request_id}`.',
    schema: { type: 'string' as const },
  },
};

/** The three headers of a limit. */
function limitHeaders(suffix: string, label: string, window: LimitWindow, limitedBy: string) {
  const end = window === 'minute' ? 'the minute ends' : `the ${window} ends, in UTC`;
  return {
    [`X-RateLimit-Limit${suffix}`]: { description: `The ${label} that ${limitedBy} allows.`, schema: INTEGER },
    [`X-RateLimit-Remaining${suffix}`]: { description: `The remaining part of the ${label}.`, schema: INTEGER },
    [`X-RateLimit-Reset${suffix}`]: { description: `Seconds until ${end}.`, schema: INTEGER },
  };
}

/** The headers of a route with a rate of its own. */
export const ROUTE_RATE_HEADERS = limitHeaders('', 'requests per minute', 'minute', 'the budget of the route');

/** The headers of the limits of a tier. A limit that the tier does not have has no headers. */
export const RATE_LIMIT_HEADERS = Object.assign(
  {},
  ...Object.values(LIMITS).map((limit) =>
    limit.header === undefined ? {} : limitHeaders(limit.header, limit.label, limit.window, 'the tier'),
  ),
) as ReturnType<typeof limitHeaders>;
