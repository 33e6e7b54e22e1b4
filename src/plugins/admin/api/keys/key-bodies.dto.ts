import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsInt,
  IsNumber,
  IsObject,
  IsString,
  Max,
  MaxLength,
  Min,
  ValidateNested,
} from 'class-validator';
import type { ApiKeyChanges } from '../../../../accounts/api-keys/api-key-updates.js';
import type { KeyLimitChanges } from '../../../../accounts/api-keys/api-key.entity.js';
import { MICROS, type BudgetPeriod } from '../../../../platform/config/limits/budget.js';
import { ApiProperty, ApiPropertyOptional, ApiSchema } from '../../../../platform/http/open-api/api-decorators.js';
import { Nullable, OneOf, Optional, Text, Time } from '../shared/body-rules.js';

const MAX_NAME_LENGTH = 1_000;
const MAX_ITEMS = 100;
const MAX_ITEM_LENGTH = 600;
const MAX_OVERLAP_SECONDS = 30 * 86_400;
const NOT_A_LIST = { message: 'must be an array of strings' };
const EACH = { each: true } as const;

/** A list of texts, which the services check. */
function Texts(): PropertyDecorator {
  return (target, property) => {
    MaxLength(MAX_ITEM_LENGTH, { ...EACH, message: `must have items of at most ${MAX_ITEM_LENGTH} characters` })(
      target,
      property,
    );
    IsString({ ...EACH, ...NOT_A_LIST })(target, property);
    ArrayMaxSize(MAX_ITEMS, { message: `must have at most ${MAX_ITEMS} entries` })(target, property);
    IsArray(NOT_A_LIST)(target, property);
  };
}

@ApiSchema({ name: 'AdminKeyBudgetChange' })
class KeyBudgetBody {
  @ApiProperty({ description: 'In units of the configured currency.' })
  @IsNumber({ maxDecimalPlaces: 6 }, { message: 'must be a number with at most 6 decimal places' })
  readonly amount!: number;

  @ApiPropertyOptional({ enum: ['day', 'month'], default: 'month' })
  @Optional()
  @OneOf(['day', 'month'])
  readonly per?: BudgetPeriod;
}

class KeyLimitsBody {
  @ApiPropertyOptional({ type: 'string', format: 'date-time', nullable: true, description: '`null`: no expiry.' })
  @Nullable()
  @Time()
  readonly expires_at?: string | null;

  @ApiPropertyOptional({
    type: [String],
    nullable: true,
    description: 'Model ids and `<vendor>/*`. `null`: all models.',
  })
  @Nullable()
  @Texts()
  readonly models?: string[] | null;

  @ApiPropertyOptional({ type: 'integer', minimum: 1, nullable: true })
  @Nullable()
  @IsInt({ message: 'must be a whole number' })
  readonly requests_per_minute?: number | null;

  @ApiPropertyOptional({ type: 'integer', minimum: 1, nullable: true })
  @Nullable()
  @IsInt({ message: 'must be a whole number' })
  readonly tokens_per_day?: number | null;

  @ApiPropertyOptional({ type: [String], nullable: true, description: 'Addresses and CIDR ranges. `null`: all.' })
  @Nullable()
  @Texts()
  readonly addresses?: string[] | null;

  @ApiPropertyOptional({ type: KeyBudgetBody, nullable: true })
  @Nullable()
  @ValidateNested()
  @Type(() => KeyBudgetBody)
  @IsObject({ message: 'must be an object' })
  readonly budget?: KeyBudgetBody | null;
}

@ApiSchema({ name: 'NewAdminKey' })
export class NewKeyBody extends KeyLimitsBody {
  @ApiProperty()
  @Text(MAX_NAME_LENGTH)
  readonly name!: string;
}

@ApiSchema({ name: 'AdminKeyChanges' })
export class KeyChangesBody extends KeyLimitsBody {
  @ApiPropertyOptional()
  @Optional()
  @Text(MAX_NAME_LENGTH)
  readonly name?: string;
}

@ApiSchema({ name: 'AdminKeyRotation' })
export class RotationBody {
  @ApiPropertyOptional({
    type: 'integer',
    ...{ minimum: 0, maximum: MAX_OVERLAP_SECONDS, default: 0 },
    description: 'How long the old key stays valid. 0 revokes it at once.',
  })
  @Optional()
  @Max(MAX_OVERLAP_SECONDS, { message: `must be at most ${MAX_OVERLAP_SECONDS}` })
  @Min(0, { message: 'must be at least 0' })
  @IsInt({ message: 'must be a whole number' })
  readonly overlap_seconds?: number;

  @ApiPropertyOptional({ format: 'date-time', description: 'When the new key expires. By default never.' })
  @Optional()
  @Time()
  readonly expires_at?: string;
}

/** Returns the changes that the body asks for. A missing member changes nothing, and `null` removes a limit. */
export function changesIn(body: KeyChangesBody): ApiKeyChanges {
  const { name, expires_at: expiresAt } = body;
  const limits: KeyLimitChanges = {
    models: body.models,
    requestsPerMinute: body.requests_per_minute,
    tokensPerDay: body.tokens_per_day,
    addresses: body.addresses,
    ...budgetIn(body),
  };
  return { name, limits, expiresAt: typeof expiresAt === 'string' ? new Date(expiresAt) : expiresAt };
}

function budgetIn({ budget }: KeyLimitsBody): Pick<KeyLimitChanges, 'budgetMicros' | 'budgetPer'> {
  if (budget === undefined) return {};
  if (budget === null) return { budgetMicros: null, budgetPer: null };
  return { budgetMicros: Math.round(budget.amount * MICROS), budgetPer: budget.per ?? 'month' };
}
