import { Get, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { AccountsService } from '../../accounts/accounts/accounts.service.js';
import { auditDay } from '../../accounts/audit/audit-day.js';
import { AuditLog, wireEntry, type AuditFilter, type AuditPage } from '../../accounts/audit/audit-log.js';
import type { VerifiedSession } from '../../accounts/sessions/sessions.service.js';
import { CurrentSession } from '../../auth/session/request-session.js';
import { ServiceError } from '../../common/service-error.js';
import { LimitedByBudget } from '../../throttling/budgets/limited-by-budget.decorator.js';
import { ReportSemaphore } from '../../usage/reports/report-semaphore.js';
import { AUDIT_ENTRY } from '../layout/navigation.js';
import { OperatorOnly } from '../operator/operator-only.decorator.js';
import { PageController } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { csvOf, sendCsv } from '../parts/csv-file.js';
import { positionIn } from '../parts/list-position.js';
import { PAGE_SIZE } from '../parts/pagination.js';
import { textIn, type QueryValues } from '../parts/query.js';
import { AuditView, type AuditQuery } from './audit-view.js';

const MAX_LENGTH = 255;
const COLUMNS = ['at', 'actor', 'action', 'target', 'source', 'before', 'after'] as const;
/** Of one file. */
const MAX_ENTRIES = 50_000;
const NONE: AuditPage = { entries: [], next: undefined };

/** The page of operators with the audit log. */
@PageController(AUDIT_ENTRY.path.slice(1))
@LimitedByBudget('pages')
@OperatorOnly()
export class AuditController {
  constructor(
    private readonly pages: Pages,
    private readonly log: AuditLog,
    private readonly accounts: AccountsService,
    private readonly semaphore: ReportSemaphore,
  ) {}

  @Get()
  async list(
    @Query() values: QueryValues,
    @CurrentSession() { account: operator }: VerifiedSession,
    @Res() response: Response,
  ): Promise<void> {
    const query = queryIn(values);
    const before = positionIn(values);
    let found = NONE;
    let problem: string | undefined;
    try {
      found = await this.semaphore.run(operator.id, async () =>
        this.log.page(await this.filterOf(query), before, PAGE_SIZE),
      );
    } catch (error) {
      if (!(error instanceof ServiceError) || error.status >= 429) throw error;
      problem = error.message;
    }
    const props = { title: 'Audit log', path: AUDIT_ENTRY.path, found, isFirstPage: before === undefined };
    const content = AuditView({ ...props, query, problem });
    this.pages.send(response, { title: 'Audit log', section: 'audit', width: 'wide', content });
  }

  @Get('export.csv')
  async download(
    @Query() values: QueryValues,
    @CurrentSession() { account: operator }: VerifiedSession,
    @Res() response: Response,
  ): Promise<void> {
    const filter = await this.filterOf(queryIn(values));
    const pages = this.log.pages(filter);
    const body = await this.semaphore.run(operator.id, () =>
      csvOf({ columns: COLUMNS, pages, rowOf: wireEntry, maxRows: MAX_ENTRIES }),
    );
    sendCsv(response, 'audit.csv', body);
  }

  /** @throws {ServiceError} `not_found` for an address without an account, `invalid_request` for an invalid day. */
  private async filterOf({ account, action, from, to }: AuditQuery): Promise<AuditFilter> {
    const accountId = account?.includes('@') === true ? (await this.accounts.get(account)).id : account;
    return { accountId, action, from: auditDay(from, 'from'), to: auditDay(to, 'to') };
  }
}

function queryIn({ account, action, from, to }: QueryValues): AuditQuery {
  return {
    account: textIn(account, MAX_LENGTH),
    action: textIn(action, MAX_LENGTH),
    from: textIn(from, MAX_LENGTH),
    to: textIn(to, MAX_LENGTH),
  };
}
