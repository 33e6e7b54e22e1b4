import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '../../platform/http/open-api/api-decorators.js';
import { Transform, Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsIn,
  IsInt,
  IsNotEmpty,
  IsNumber,
  IsObject,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  MinLength,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import type { GenerationOptions } from '../../platform/config/capabilities.js';
import type { ChatMessage, Role } from '../../upstreams/contract/protocol.js';
import { DEFAULT_TEMPERATURE } from './requested-contents.js';

const ROLES: readonly Role[] = ['system', 'user', 'assistant'];
/** The id of a model, or an alias, which may have no slash. `ModelCatalog` refuses an unknown name without a slash. */
const MODEL_NAME = /^[^/\s]+(?:\/\S+)?$/;
const MAX_MODEL_ID_LENGTH = 256;
export const MAX_MESSAGES = 1000;
const MAX_TEMPERATURE = 2;
export const MAX_STOPS = 4;
const MAX_STOP_LENGTH = 256;
/** Providers take integers of 32 bits, or larger ones. */
const MIN_SEED = -(2 ** 31);
const MAX_SEED = 2 ** 31 - 1;
const MAX_PENALTY = 2;

/** Marks an optional member. The member may be left out, but `null` is an invalid value. */
const Optional = (): PropertyDecorator => ValidateIf((_, value) => value !== undefined);

/** Marks an optional number in a range. Here the first decorator runs first. */
function NumberFrom(min: number, max: number, description?: string): PropertyDecorator {
  return applyDecorators(
    Optional(),
    IsNumber({}, { message: 'must be a number' }),
    Min(min, { message: `must be at least ${min}` }),
    Max(max, { message: `must be at most ${max}` }),
    ApiPropertyOptional({ minimum: min, maximum: max, ...(description !== undefined && { description }) }),
  );
}

export class ChatRequestMessage implements ChatMessage {
  @ApiProperty({ enum: ROLES })
  @IsIn(ROLES, { message: `must be one of ${ROLES.join(', ')}` })
  readonly role!: Role;

  @ApiProperty({ minLength: 1, example: 'Hello!' })
  // MinLength counts the characters of the whole text.
  @IsNotEmpty({ message: 'must not be empty' })
  @IsString({ message: 'must be a string' })
  readonly content!: string;
}

/**
 * The body of `POST /chat/stream`. JSON types are not converted: `"1"` is not a number. The decorators are the only rules.
 * The lowest decorator of a member runs first, and a member has at most one error.
 *
 * @since 1.0
 */
export class ChatRequest implements GenerationOptions {
  @ApiProperty({
    pattern: MODEL_NAME.source,
    maxLength: MAX_MODEL_ID_LENGTH,
    description: 'A model id from `GET /chat/models`, `<vendor>/<model_name>`, or an alias of a model.',
    example: 'builtin/eliza',
  })
  @Matches(MODEL_NAME, { message: 'must have the form <vendor>/<model_name>' })
  @MaxLength(MAX_MODEL_ID_LENGTH, { message: `must not be longer than ${MAX_MODEL_ID_LENGTH} characters` })
  @IsString({ message: 'must be a string' })
  readonly model!: string;

  @ApiProperty({ type: [ChatRequestMessage], minItems: 1, maxItems: MAX_MESSAGES })
  @ValidateNested({ each: true, message: 'must be an object' })
  @IsObject({ each: true, message: 'must contain only objects' })
  @ArrayMaxSize(MAX_MESSAGES, { message: `must contain at most ${MAX_MESSAGES} messages` })
  @ArrayMinSize(1, { message: 'must contain at least one message' })
  @IsArray({ message: 'must be an array' })
  @Type(() => ChatRequestMessage)
  readonly messages!: ChatRequestMessage[];

  // The default is not declared as `default`: generators of types take a member with a default for a required one.
  @NumberFrom(0, MAX_TEMPERATURE, `The default is ${DEFAULT_TEMPERATURE}. With \`top_p\`, there is no default.`)
  readonly temperature?: number;

  @NumberFrom(0, 1)
  readonly top_p?: number;

  @ApiPropertyOptional({
    oneOf: [
      { type: 'string', minLength: 1, maxLength: MAX_STOP_LENGTH },
      {
        type: 'array',
        items: { type: 'string', minLength: 1, maxLength: MAX_STOP_LENGTH },
        minItems: 1,
        maxItems: MAX_STOPS,
      },
    ],
    description: 'The answer ends before the first of these texts.',
  })
  @MaxLength(MAX_STOP_LENGTH, { each: true, message: `must not have a text longer than ${MAX_STOP_LENGTH} characters` })
  @MinLength(1, { each: true, message: 'must not have an empty text' })
  @IsString({ each: true, message: 'must be a string, or contain only strings' })
  @ArrayMaxSize(MAX_STOPS, { message: `must contain at most ${MAX_STOPS} strings` })
  @ArrayMinSize(1, { message: 'must contain at least one string' })
  @IsArray({ message: 'must be a string, or an array of strings' })
  @Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? [value] : value))
  @Optional()
  readonly stop?: string[];

  @ApiPropertyOptional({ type: 'integer', minimum: MIN_SEED, maximum: MAX_SEED })
  @Max(MAX_SEED, { message: `must be at most ${MAX_SEED}` })
  @Min(MIN_SEED, { message: `must be at least ${MIN_SEED}` })
  @IsInt({ message: 'must be an integer' })
  @Optional()
  readonly seed?: number;

  @NumberFrom(-MAX_PENALTY, MAX_PENALTY)
  readonly presence_penalty?: number;

  @NumberFrom(-MAX_PENALTY, MAX_PENALTY)
  readonly frequency_penalty?: number;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    description: 'The maximum number of tokens to generate. Limited by the model and by the tier.',
  })
  @Min(1, { message: 'must be at least 1' })
  @IsInt({ message: 'must be an integer' })
  @Optional()
  readonly max_tokens?: number;
}
