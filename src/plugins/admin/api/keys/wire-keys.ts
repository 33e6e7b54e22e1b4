import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { ApiKeysService, wireApiKey, type ListedApiKey } from '../../../../accounts/api-keys/api-keys.service.js';
import { ServiceError } from '../../../../platform/common/service-error.js';
import { ApiProperty, ApiSchema } from '../../../../platform/http/open-api/api-decorators.js';
import { ListedBudgets } from '../../../../usage/budgets/listed-budgets.js';
import type { BudgetState } from '../../../../usage/budgets/spend-budgets.js';
import { wireBudget } from '../../../../usage/reports/report-json.js';
import { UsageBudget } from '../../../../usage/reports/usage.dto.js';
import { Creations } from '../shared/creations.js';
import { PageDto } from '../shared/list-query.js';

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
function wireKey(accountId: string, key: ListedApiKey, budget: BudgetState | undefined): KeyDto {
  return {
    id: key.id,
    account_id: accountId,
    ...wireApiKey(key),
    budget: budget === undefined ? null : wireBudget(budget),
  };
}

/** Creates API keys, and converts them to the form of the API, with what is left of their budgets. */
@Injectable()
export class WireKeys {
  constructor(
    private readonly keys: ApiKeysService,
    private readonly budgets: ListedBudgets,
    private readonly creations: Creations,
  ) {}

  async all(accountId: string, keys: readonly ListedApiKey[]): Promise<KeyDto[]> {
    const budgets = await this.budgets.ofKeys(accountId, keys);
    return keys.map((key) => wireKey(accountId, key, budgets.get(key.id)));
  }

  async one(accountId: string, key: ListedApiKey): Promise<KeyDto> {
    const budgets = await this.budgets.ofKeys(accountId, [key]);
    return wireKey(accountId, key, budgets.get(key.id));
  }

  /**
   * Creates a key, or returns the key that an earlier request with the same `Idempotency-Key` has created, without its secret.
   *
   * @param create creates the key with this id, and returns its secret.
   */
  createOnce(request: Request, accountId: string, create: (id: string) => Promise<string>): Promise<NewKeyDto> {
    return this.creations.run(request, {
      find: async (id) => {
        const known = await this.keys.find(id, accountId).catch(undefinedIfNotFound);
        return known && this.created(accountId, known, null);
      },
      create: async (id) => {
        const secret = await create(id);
        return this.created(accountId, await this.keys.find(id, accountId), secret);
      },
    });
  }

  private async created(accountId: string, key: ListedApiKey, secret: string | null): Promise<NewKeyDto> {
    return Object.assign(await this.one(accountId, key), { key: secret });
  }
}

function undefinedIfNotFound(error: unknown): undefined {
  if (error instanceof ServiceError && error.code === 'not_found') return undefined;
  throw error;
}
