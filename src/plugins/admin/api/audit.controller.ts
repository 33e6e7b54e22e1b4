import { Get, Query } from '@nestjs/common';
import { auditDay, AuditLog, wireEntry, type AuditEntry } from '../../../accounts/audit/audit-log.js';
import type { VerifiedOperatorKey } from '../../../accounts/operator-keys/operator-key-verifier.js';
import { CurrentOperator } from '../../../auth/operators/operator-access.js';
import { ApiProperty, ApiSchema } from '../../../platform/http/open-api/api-decorators.js';
import { PartOf } from '../../../platform/http/surface/part-of.decorator.js';
import { ReportSemaphore } from '../../../usage/reports/report-semaphore.js';
import { AdminController, ListRoute } from './shared/operation.decorator.js';
import {
  limitIn,
  pageByPosition,
  PageDto,
  parametersIn,
  positionIn,
  type ListPage,
  type QueryValues,
} from './shared/list-query.js';

const VALUES = { type: 'object', additionalProperties: true, nullable: true } as const;

@ApiSchema({ name: 'AuditEntry' })
class AuditEntryDto {
  @ApiProperty()
  readonly id!: string;

  @ApiProperty({ format: 'date-time' })
  readonly at!: string;

  @ApiProperty({ description: 'Who made the change.', example: 'operator-key:5f0f3b6c-… (portal)' })
  readonly actor!: string;

  @ApiProperty({ example: 'key.created' })
  readonly action!: string;

  @ApiProperty({ description: 'What was changed.', example: 'key:0b6e7a52-…' })
  readonly target!: string;

  @ApiProperty({ type: 'string', nullable: true, description: 'The address of the client, or the user of a command.' })
  readonly source!: string | null;

  @ApiProperty({ ...VALUES, description: 'The changed values before the change.' })
  readonly before!: unknown;

  @ApiProperty({ ...VALUES, description: 'The changed values after the change.' })
  readonly after!: unknown;
}

@ApiSchema({ name: 'AuditPage' })
class AuditPageDto extends PageDto {
  @ApiProperty({ type: [AuditEntryDto] })
  readonly data!: readonly AuditEntryDto[];
}

function wireAuditEntry(entry: AuditEntry): AuditEntryDto {
  return { id: entry.id, ...wireEntry(entry) };
}

const FILTERS = {
  account_id: 'The account that was changed, or whose key or session was changed.',
  action: 'Such as `key.created`.',
  from: 'The first day, in UTC.',
  to: 'The last day, in UTC.',
} as const;

/** The audit log. */
@PartOf('audit')
@AdminController('admin/audit')
export class AuditController {
  constructor(
    private readonly log: AuditLog,
    private readonly semaphore: ReportSemaphore,
  ) {}

  @Get()
  @ListRoute({
    operationId: 'listAuditEntries',
    summary: 'Lists the entries of the audit log, newest first',
    type: AuditPageDto,
    filters: FILTERS,
  })
  async list(
    @Query() query: QueryValues,
    @CurrentOperator() { id }: VerifiedOperatorKey,
  ): Promise<ListPage<AuditEntryDto>> {
    const { account_id: accountId, action, limit, cursor, ...days } = parametersIn(query, FILTERS);
    const filter = { accountId, action, from: auditDay(days.from, 'from'), to: auditDay(days.to, 'to') };
    const [position, most] = [positionIn(cursor), limitIn(limit)];
    const { entries, next } = await this.semaphore.run(id, () => this.log.page(filter, position, most));
    return pageByPosition(entries.map(wireAuditEntry), next);
  }
}
