import { Get, Query } from '@nestjs/common';
import { auditDay } from '../../accounts/audit/audit-day.js';
import { AuditLog } from '../../accounts/audit/audit-log.js';
import type { VerifiedOperatorKey } from '../../accounts/operator-keys/operator-key-verifier.js';
import { CurrentOperator } from '../../auth/operators/current-operator.decorator.js';
import { ReportSemaphore } from '../../usage/reports/report-semaphore.js';
import { AdminController } from '../shared/admin-controller.decorator.js';
import { ListRoute } from '../shared/list-operation.decorator.js';
import { limitIn, pageByPosition, positionIn, type ListPage } from '../shared/paging.js';
import { parametersIn, type QueryValues } from '../shared/query.js';
import { AuditPageDto, wireAuditEntry, type AuditEntryDto } from './audit-entry.dto.js';

const FILTERS = {
  account_id: 'The account that was changed, or whose key or session was changed.',
  action: 'Such as `key.created`.',
  from: 'The first day, in UTC.',
  to: 'The last day, in UTC.',
} as const;

/** The audit log. */
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
