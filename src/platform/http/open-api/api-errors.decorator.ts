import { applyDecorators } from '@nestjs/common';
import {
  ERRORS,
  STREAM_ONLY_CODES,
  type BuiltInErrorCode,
  type DefinedError,
  type ErrorCode,
} from '../../common/service-error.js';
import { ApiExtraModels, ApiProperty, ApiPropertyOptional, ApiResponse, ApiSchema } from './api-decorators.js';
import { errorResponse } from './defined-errors.js';

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

/**
 * Documents the error body for each status, with the error codes of that status.
 *
 * @param errors codes of the service's own errors, statuses with all of their codes, and classes of `defineError`.
 * @since 1.0
 */
export const ApiErrors = (...errors: readonly (BuiltInErrorCode | number | DefinedError)[]): MethodDecorator => {
  const texts = new Map<number, string[]>();
  for (const error of errors) {
    const status = statusOf(error);
    texts.set(status, [...(texts.get(status) ?? []), ...textsOf(error)]);
  }
  return applyDecorators(
    ApiExtraModels(ErrorBodyDto, ErrorDto, ErrorDetailDto),
    ...[...texts].map(([status, codes]) => ApiResponse({ status, ...errorResponse(status, codes) })),
  );
};

function statusOf(error: BuiltInErrorCode | number | DefinedError): number {
  if (typeof error === 'number') return error;
  return typeof error === 'string' ? ERRORS[error].status : error.status;
}

function textsOf(error: BuiltInErrorCode | number | DefinedError): string[] {
  if (typeof error === 'string') return [`\`${error}\``];
  if (typeof error !== 'number') return [`\`${error.code}\`: ${error.description}`];
  return CODES.filter((code) => ERRORS[code].status === error).map((code) => `\`${code}\``);
}
