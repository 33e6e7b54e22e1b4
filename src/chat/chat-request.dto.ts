import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
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
  Min,
  MinLength,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import type { ChatMessage, Role } from '../upstreams/chat-call.js';

const ROLES: readonly Role[] = ['system', 'user', 'assistant'];
const MODEL_ID = /^[^/\s]+\/\S+$/;
const MEMBERS = new Set(['model', 'messages', 'temperature', 'max_tokens']);
const MOST_MESSAGES = 1000;
export const DEFAULT_TEMPERATURE = 0.7;

/** The member may be left out. `null` is a value, and a wrong one. */
const Optional = (): PropertyDecorator => ValidateIf((_, value) => value !== undefined);

export class ChatRequestMessage implements ChatMessage {
  @ApiProperty({ enum: ROLES })
  @IsIn(ROLES, { message: `must be one of ${ROLES.join(', ')}` })
  readonly role!: Role;

  @ApiProperty({ minLength: 1, example: 'Hello!' })
  @MinLength(1, { message: 'must not be empty' })
  @IsString({ message: 'must be a string' })
  readonly content!: string;
}

/** The body of `POST /chat/stream`. JSON types are not converted: `"1"` is not a number. */
export class ChatRequest {
  @ApiProperty({
    pattern: MODEL_ID.source,
    description: 'One of the ids that `GET /chat/models` lists.',
    example: 'builtin/eliza',
  })
  @Matches(MODEL_ID, { message: 'must have the form <vendor>/<model_name>' })
  @IsString({ message: 'must be a string' })
  readonly model!: string;

  @ApiProperty({ type: [ChatRequestMessage], minItems: 1, maxItems: MOST_MESSAGES })
  @ValidateNested({ each: true, message: 'must be an object' })
  @IsObject({ each: true, message: 'must hold objects only' })
  @ArrayMaxSize(MOST_MESSAGES, { message: `must hold at most ${MOST_MESSAGES} messages` })
  @ArrayMinSize(1, { message: 'must hold at least one message' })
  @IsArray({ message: 'must be an array' })
  @Type(() => ChatRequestMessage)
  readonly messages!: ChatRequestMessage[];

  @ApiPropertyOptional({ minimum: 0, maximum: 2, default: DEFAULT_TEMPERATURE })
  @Max(2, { message: 'must not be above 2' })
  @Min(0, { message: 'must not be below 0' })
  @IsNumber({}, { message: 'must be a number' })
  @Optional()
  readonly temperature?: number;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    description: 'Most tokens to generate: no more than the context length of the model and the cap of the tier.',
  })
  @Min(1, { message: 'must be at least 1' })
  @IsInt({ message: 'must be an integer' })
  @Optional()
  readonly max_tokens?: number;

  /** The rules above in one pass, see `QuickCheck`. A test holds the two together. */
  static accepts(body: unknown): boolean {
    const { model, messages, temperature, max_tokens: maxTokens } = body as Readonly<Record<string, unknown>>;
    return (
      Object.keys(body as object).every((member) => MEMBERS.has(member)) &&
      typeof model === 'string' &&
      MODEL_ID.test(model) &&
      Array.isArray(messages) &&
      messages.length >= 1 &&
      messages.length <= MOST_MESSAGES &&
      messages.every(isMessage) &&
      (temperature === undefined || (typeof temperature === 'number' && temperature >= 0 && temperature <= 2)) &&
      (maxTokens === undefined || (Number.isInteger(maxTokens) && (maxTokens as number) >= 1))
    );
  }
}

function isMessage(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { role, content } = value as Readonly<Record<string, unknown>>;
  return (
    Object.keys(value).length === 2 && ROLES.includes(role as Role) && typeof content === 'string' && content !== ''
  );
}
