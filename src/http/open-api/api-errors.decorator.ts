import { applyDecorators } from '@nestjs/common';
import type { DefinedError } from '../../common/define-error.js';
import { ERRORS, STREAM_ONLY_CODES, type BuiltInErrorCode, type ErrorCode } from '../../common/service-error.js';
import type { ApiResponseOptions } from '@nestjs/swagger';
import {
  ApiExtraModels,
  ApiProperty,
  ApiPropertyOptional,
  ApiResponse,
  ApiSchema,
  schemaPath,
} from './api-decorators.js';
import { RATE_LIMIT_HEADERS, REQUEST_ID } from './api-headers.js';

const CODES = (Object.keys(ERRORS) as BuiltInErrorCode[]).filter((code) => !STREAM_ONLY_CODES.includes(code));

@ApiSchema({ name: 'ErrorDetail' })
class ErrorDetailDto {
  @ApiProperty({ example: 'messages.1.content' })
  readonly field!: string;

  @ApiProperty({ example: 'must not be empty' })
  readonly message!: string;
}

@ApiSchema({ name: 'ErrorReport' })
export class ErrorDto {
  @ApiProperty({ enum: CODES })
  readonly code!: ErrorCode;

  @ApiProperty()
  readonly message!: string;

  @ApiProperty({ description: 'The `X-Request-Id` of the response.' })
  readonly request_id!: string;

  @ApiPropertyOptional({ type: [ErrorDetailDto] })
  readonly details?: readonly ErrorDetailDto[];
}

@ApiSchema({ name: 'ErrorBody' })
class ErrorBodyDto {
  @ApiProperty({ type: ErrorDto })
  readonly error!: ErrorDto;
}

const RETRY_AFTER = {
  'Retry-After': { description: 'Seconds to wait before the next attempt.', schema: { type: 'integer' as const } },
};
const HEADERS: Readonly<Record<number, ApiResponseOptions['headers']>> = {
  401: { 'WWW-Authenticate': { description: 'The challenge of RFC 6750.', schema: { type: 'string' } } },
  429: { ...RETRY_AFTER, ...RATE_LIMIT_HEADERS },
  503: RETRY_AFTER,
};

/**
 * Documents the error body for each status, with the error codes of that status.
 *
 * @param errors statuses of the service's own errors, and classes of `defineError`.
 */
export const ApiErrors = (...errors: readonly (number | DefinedError)[]): MethodDecorator => {
  const texts = new Map<number, string[]>();
  for (const error of errors) {
    const status = typeof error === 'number' ? error : error.status;
    texts.set(status, [...(texts.get(status) ?? []), ...textsOf(error)]);
  }
  return applyDecorators(
    ApiExtraModels(ErrorBodyDto, ErrorDto, ErrorDetailDto),
    ...[...texts].map(([status, codes]) =>
      ApiResponse({
        status,
        description: codes.join(', '),
        content: { 'application/json': { schema: { $ref: schemaPath('ErrorBody') } } },
        headers: { ...REQUEST_ID, ...HEADERS[status] },
      }),
    ),
  );
};

function textsOf(error: number | DefinedError): string[] {
  if (typeof error !== 'number') return [`\`${error.code}\`: ${error.description}`];
  return CODES.filter((code) => ERRORS[code].status === error).map((code) => `\`${code}\``);
}
