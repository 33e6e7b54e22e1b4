import type { ApiResponseOptions, OpenAPIObject } from '@nestjs/swagger';
import { RATE_LIMIT_HEADERS, schemaPath } from './api-decorators.js';

type HeadersByName = ApiResponseOptions['headers'];
type ResponseObject = Exclude<
  NonNullable<OpenAPIObject['paths'][string]['get']>['responses'][string],
  { $ref: string } | undefined
>;

const RETRY_AFTER = {
  'Retry-After': { description: 'Seconds to wait before the next attempt.', schema: { type: 'integer' as const } },
};
const HEADERS: Readonly<Record<number, HeadersByName>> = {
  401: { 'WWW-Authenticate': { description: 'The challenge of RFC 6750.', schema: { type: 'string' } } },
  429: { ...RETRY_AFTER, ...RATE_LIMIT_HEADERS },
  503: RETRY_AFTER,
};

/**
 * The description of an error response, for the OpenAPI document.
 *
 * @param texts one for each error code of the response.
 */
export function errorResponse(status: number, texts: readonly string[]): ResponseObject {
  return {
    description: texts.join(', '),
    headers: { ...HEADERS[status] },
    content: { 'application/json': { schema: { $ref: schemaPath('ErrorBody') } } },
  };
}
