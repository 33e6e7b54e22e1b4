import { applyDecorators } from '@nestjs/common';
import { ApiExtraModels, ApiProperty, ApiPropertyOptional, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { ERROR_STATUS, type ErrorCode } from './service-error.js';

const CODES = Object.keys(ERROR_STATUS) as ErrorCode[];

class ErrorDetailDto {
  @ApiProperty({ example: 'messages.1.content' })
  readonly field!: string;

  @ApiProperty({ example: 'must not be empty' })
  readonly message!: string;
}

class ErrorDto {
  @ApiProperty({ enum: CODES })
  readonly code!: ErrorCode;

  @ApiProperty()
  readonly message!: string;

  @ApiProperty({ description: 'The `X-Request-Id` of the response.' })
  readonly request_id!: string;

  @ApiPropertyOptional({ type: [ErrorDetailDto] })
  readonly details?: ErrorDetailDto[];
}

class ErrorBodyDto {
  @ApiProperty({ type: ErrorDto })
  readonly error!: ErrorDto;
}

/** Documents the error body under each status, with the codes that it may carry. */
export const ApiErrors = (...statuses: number[]): MethodDecorator =>
  applyDecorators(
    ApiExtraModels(ErrorBodyDto, ErrorDto, ErrorDetailDto),
    ...statuses.map((status) =>
      ApiResponse({
        status,
        description: CODES.filter((code) => ERROR_STATUS[code] === status)
          .map((code) => `\`${code}\``)
          .join(', '),
        content: { 'application/json': { schema: { $ref: getSchemaPath(ErrorBodyDto) } } },
        ...(status === 429 ? { headers: { 'Retry-After': { schema: { type: 'integer' } } } } : {}),
      }),
    ),
  );
