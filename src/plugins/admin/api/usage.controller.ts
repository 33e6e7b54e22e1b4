import { Get, Inject, Query } from '@nestjs/common';
import { AccountsService } from '../../../accounts/accounts/accounts.service.js';
import { ApiKeysService } from '../../../accounts/api-keys/api-keys.service.js';
import type { VerifiedOperatorKey } from '../../../accounts/operator-keys/operator-key-verifier.js';
import { CurrentOperator } from '../../../auth/operators/operator-access.js';
import { CLOCK, type Clock } from '../../../platform/common/clock.js';
import { ApiProperty, ApiSchema } from '../../../platform/http/open-api/api-decorators.js';
import { PartOf } from '../../../platform/http/surface/part-of.decorator.js';
import { ORDER_OF_ALL, type DaySumsPosition } from '../../../usage/reports/day-sums.js';
import { wireAccountUsage } from '../../../usage/reports/report-json.js';
import { ReportSemaphore } from '../../../usage/reports/report-semaphore.js';
import { usagePeriod } from '../../../usage/reports/usage-period.js';
import { UsageReports } from '../../../usage/reports/usage-reports.js';
import { UsageCounts } from '../../../usage/reports/usage.dto.js';
import { AdminController, ListRoute } from './shared/operation.decorator.js';
import {
  limitIn,
  PageDto,
  pageOf,
  parametersIn,
  valuesIn,
  type ListPage,
  type QueryValues,
} from './shared/list-query.js';

const NULLABLE_TEXT = { type: 'string', nullable: true } as const;

@ApiSchema({ name: 'AdminUsage' })
class UsageRowDto extends UsageCounts {
  @ApiProperty({ format: 'date', description: 'The UTC day on which the streams started.' })
  readonly day!: string;

  @ApiProperty()
  readonly account_id!: string;

  @ApiProperty({ ...NULLABLE_TEXT, description: '`null` for a deleted account.' })
  readonly email!: string | null;

  @ApiProperty()
  readonly model!: string;

  @ApiProperty({ ...NULLABLE_TEXT, description: '`null` for requests without an API key.' })
  readonly key_id!: string | null;

  @ApiProperty({ ...NULLABLE_TEXT, description: 'The first characters of the key.' })
  readonly key_prefix!: string | null;

  @ApiProperty({ ...NULLABLE_TEXT, description: '`null` also for a key of a deleted account.' })
  readonly key_name!: string | null;

  @ApiProperty({ ...NULLABLE_TEXT, example: 'USD' })
  readonly currency!: string | null;
}

@ApiSchema({ name: 'AdminUsagePage' })
class UsagePageDto extends PageDto {
  @ApiProperty({ type: [UsageRowDto] })
  readonly data!: readonly UsageRowDto[];
}

const FILTERS = {
  from: 'The first day, in UTC. Default: 29 days before the last day.',
  to: 'The last day, in UTC. Default: today.',
  account_id: 'Only this account, which may be deleted.',
  key_id: 'Only this API key.',
  model: 'Only this model.',
} as const;

/** The usage of all accounts. */
@PartOf('reports')
@AdminController('admin/usage')
export class UsageController {
  constructor(
    private readonly reports: UsageReports,
    private readonly accounts: AccountsService,
    private readonly keys: ApiKeysService,
    private readonly semaphore: ReportSemaphore,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  @Get()
  @ListRoute({
    operationId: 'listUsage',
    summary: 'Lists the usage by day, account, model and key, oldest day first',
    type: UsagePageDto,
    filters: FILTERS,
  })
  async list(
    @Query() query: QueryValues,
    @CurrentOperator() { id }: VerifiedOperatorKey,
  ): Promise<ListPage<UsageRowDto>> {
    const { limit, cursor, from, to, ...filter } = parametersIn(query, FILTERS);
    const period = { ...usagePeriod({ from, to }, this.now()), accountId: filter.account_id };
    const [position, most] = [positionIn(cursor), limitIn(limit)];
    return this.semaphore.run(id, async () => {
      const { rows, next } = await this.reports.page(period, position, most);
      const found = rows.filter(
        ({ keyId, model }) => keyId === (filter.key_id ?? keyId) && model === (filter.model ?? model),
      );
      const emails = await this.accounts.emailsOf([...new Set(found.map(({ accountId }) => accountId))]);
      const keyNames = await this.keys.namesOf([...new Set(found.flatMap(({ keyId }) => keyId ?? []))]);
      const data = found.map((row) => ({
        ...wireAccountUsage(row, emails.get(row.accountId)),
        key_name: keyNames.get(row.keyId ?? '') ?? null,
      }));
      return pageOf(data, next && ORDER_OF_ALL.map((column) => next[column]));
    });
  }
}

/** @throws {ServiceError} `invalid_request` for a text that is no cursor of this list. */
function positionIn(cursor: string | undefined): DaySumsPosition | undefined {
  const values = valuesIn(cursor, ORDER_OF_ALL.length);
  if (values === undefined) return undefined;
  return Object.fromEntries(ORDER_OF_ALL.map((column, index) => [column, values[index]])) as DaySumsPosition;
}
