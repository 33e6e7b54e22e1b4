import { wireKeyTimes } from '../../accounts/credentials/wire-key.js';
import type { ListedApiKey } from '../../accounts/api-keys/api-keys.service.js';
import { ApiProperty, ApiSchema } from '../../http/open-api/api-decorators.js';
import type { BudgetState } from '../../usage/budgets/spend-budgets.js';
import { wireBudget } from '../../usage/reports/report-json.js';
import { UsageBudget } from '../../usage/reports/usage.dto.js';
import { PageDto } from '../shared/page.dto.js';

const NULLABLE_INTEGER = { type: 'integer', nullable: true } as const;
const NULLABLE_TIME = { type: 'string', format: 'date-time', nullable: true } as const;
const NULLABLE_TEXTS = { type: 'array', items: { type: 'string' }, nullable: true } as const;

@ApiSchema({ name: 'AdminKey' })
export class KeyDto {
  @ApiProperty({ format: 'uuid' })
  readonly id!: string;

  @ApiProperty({ format: 'uuid' })
  readonly account_id!: string;

  @ApiProperty()
  readonly name!: string;

  @ApiProperty({ description: 'The first characters of the key.' })
  readonly prefix!: string;

  @ApiProperty({ format: 'date-time' })
  readonly created_at!: string;

  @ApiProperty({ ...NULLABLE_TIME, description: '`null`: the key never expires.' })
  readonly expires_at!: string | null;

  @ApiProperty({ ...NULLABLE_TIME, description: 'Up to a minute late.' })
  readonly last_used_at!: string | null;

  @ApiProperty(NULLABLE_TIME)
  readonly revoked_at!: string | null;

  @ApiProperty({ ...NULLABLE_TEXTS, description: 'Model ids and `<vendor>/*`. `null`: all models.' })
  readonly models!: readonly string[] | null;

  @ApiProperty({ ...NULLABLE_INTEGER, description: '`null`: no limit of its own.' })
  readonly requests_per_minute!: number | null;

  @ApiProperty({ ...NULLABLE_INTEGER, description: '`null`: no limit of its own.' })
  readonly tokens_per_day!: number | null;

  @ApiProperty({ ...NULLABLE_TEXTS, description: 'IP addresses and CIDR ranges. `null`: all addresses.' })
  readonly addresses!: readonly string[] | null;

  @ApiProperty({
    type: UsageBudget,
    nullable: true,
    description: '`null`: no budget of its own. Rotated keys share a budget.',
  })
  readonly budget!: UsageBudget | null;
}

@ApiSchema({ name: 'CreatedAdminKey' })
export class NewKeyDto extends KeyDto {
  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'The secret. No other response shows it. `null` if the request repeats an earlier one.',
  })
  readonly key!: string | null;
}

@ApiSchema({ name: 'AdminKeyPage' })
export class KeyPageDto extends PageDto {
  @ApiProperty({ type: [KeyDto] })
  readonly data!: readonly KeyDto[];
}

/** @param budget the budget of the key, if it has one of its own. */
export function wireKey(accountId: string, key: ListedApiKey, budget: BudgetState | undefined): KeyDto {
  return {
    id: key.id,
    account_id: accountId,
    name: key.name,
    ...wireKeyTimes(key),
    models: key.models,
    requests_per_minute: key.requestsPerMinute,
    tokens_per_day: key.tokensPerDay,
    addresses: key.addresses,
    budget: budget === undefined ? null : wireBudget(budget),
  };
}
