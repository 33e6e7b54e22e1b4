import { applyDecorators } from '@nestjs/common';
import { ERRORS, STREAM_ONLY_CODES, type ErrorCode } from '../../common/service-error.js';
import type { ApiResponseOptions } from '@nestjs/swagger';
import {
  ApiExtraModels,
  ApiProperty,
  ApiPropertyOptional,
  ApiResponse,
  ApiSchema,
  schemaPath,
} from './api-decorators.js';

const CODES = (Object.keys(ERRORS) as ErrorCode[]).filter((code) => !STREAM_ONLY_CODES.includes(code));

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
  429: RETRY_AFTER,
  503: RETRY_AFTER,
};

/** Documents the error body for each status, with the error codes of that status. */
export const ApiErrors = (...statuses: number[]): MethodDecorator =>
  applyDecorators(
    ApiExtraModels(ErrorBodyDto, ErrorDto, ErrorDetailDto),
    ...statuses.map((status) =>
      ApiResponse({
        status,
        description: CODES.filter((code) => ERRORS[code].status === status)
          .map((code) => `\`${code}\``)
          .join(', '),
        content: { 'application/json': { schema: { $ref: schemaPath('ErrorBody') } } },
        headers: HEADERS[status] ?? {},
      }),
    ),
  );
