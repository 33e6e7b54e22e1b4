import { ApiProperty, ApiPropertyOptional } from '../../http/open-api/api-decorators.js';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsIn,
  IsInt,
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
import type { ErrorDetail } from '../../common/service-error.js';
import type { ChatMessage, Role } from '../../upstreams/contract/chat-call.js';
import {
  chatRequestProblems,
  HIGHEST_TEMPERATURE,
  LONGEST_MODEL_ID,
  MODEL_ID,
  MOST_MESSAGES,
  MUST,
  ROLES,
} from './chat-request.rules.js';

export const DEFAULT_TEMPERATURE = 0.7;

/** Marks an optional member. The member may be left out, but `null` is an invalid value. */
const Optional = (): PropertyDecorator => ValidateIf((_, value) => value !== undefined);

export class ChatRequestMessage implements ChatMessage {
  @ApiProperty({ enum: ROLES })
  @IsIn(ROLES, { message: MUST.beRole })
  readonly role!: Role;

  @ApiProperty({ minLength: 1, example: 'Hello!' })
  @MinLength(1, { message: MUST.notBeEmpty })
  @IsString({ message: MUST.beString })
  readonly content!: string;
}

/** The body of `POST /chat/stream`. JSON types are not converted: `"1"` is not a number. */
export class ChatRequest {
  @ApiProperty({
    pattern: MODEL_ID.source,
    maxLength: LONGEST_MODEL_ID,
    description: 'A model id from `GET /chat/models`.',
    example: 'builtin/eliza',
  })
  @Matches(MODEL_ID, { message: MUST.beModelId })
  @MaxLength(LONGEST_MODEL_ID, { message: MUST.beShort })
  @IsString({ message: MUST.beString })
  readonly model!: string;

  @ApiProperty({ type: [ChatRequestMessage], minItems: 1, maxItems: MOST_MESSAGES })
  @ValidateNested({ each: true, message: MUST.beObject })
  @IsObject({ each: true, message: MUST.holdObjects })
  @ArrayMaxSize(MOST_MESSAGES, { message: MUST.holdFewMessages })
  @ArrayMinSize(1, { message: MUST.holdOneMessage })
  @IsArray({ message: MUST.beArray })
  @Type(() => ChatRequestMessage)
  readonly messages!: ChatRequestMessage[];

  @ApiPropertyOptional({
    minimum: 0,
    maximum: HIGHEST_TEMPERATURE,
    // Not as `default`: generators of types take a member with a default for a required one.
    description: `The default is ${DEFAULT_TEMPERATURE}.`,
  })
  @Max(HIGHEST_TEMPERATURE, { message: MUST.notBeHot })
  @Min(0, { message: MUST.notBeNegative })
  @IsNumber({}, { message: MUST.beNumber })
  @Optional()
  readonly temperature?: number;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    description: 'The maximum number of tokens to generate. Limited by the model and by the tier.',
  })
  @Min(1, { message: MUST.beOne })
  @IsInt({ message: MUST.beInteger })
  @Optional()
  readonly max_tokens?: number;

  /** Applies the rules of the decorators in one pass, see `QuickCheck`. A test checks that both give the same result. */
  static problems(body: object): Iterable<ErrorDetail> {
    return chatRequestProblems(body);
  }
}
