import { Get, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { AuditLog, type AuditEntry } from '../../accounts/audit/audit-log.js';
import { CurrentPrincipal } from '../../auth/principal/current-principal.decorator.js';
import type { Principal } from '../../auth/principal/principal.js';
import { SessionOnly } from '../../auth/session/session.guard.js';
import { LimitedByBudget } from '../../throttling/budgets/limited-by-budget.decorator.js';
import { ReportSemaphore } from '../../usage/reports/report-semaphore.js';
import { PageController } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { positionIn } from '../parts/list-position.js';
import { PAGE_SIZE } from '../parts/pagination.js';
import type { QueryValues } from '../parts/query.js';
import { AuditView } from './audit-view.js';

const PATH = '/settings/activity';

/** The page with the changes of the account that is signed in, its keys and its sessions. */
@PageController(PATH.slice(1))
@SessionOnly()
export class ActivityController {
  constructor(
    private readonly pages: Pages,
    private readonly log: AuditLog,
    private readonly semaphore: ReportSemaphore,
  ) {}

  @Get()
  @LimitedByBudget('pages')
  async list(
    @Query() values: QueryValues,
    @CurrentPrincipal() { accountId }: Principal,
    @Res() response: Response,
  ): Promise<void> {
    const before = positionIn(values);
    const { entries, next } = await this.semaphore.run(accountId, () =>
      this.log.page({ accountId }, before, PAGE_SIZE),
    );
    const found = { entries: entries.map((entry) => asSeenBy(accountId, entry)), next };
    const content = AuditView({ title: 'Activity', path: PATH, found, isFirstPage: before === undefined });
    this.pages.send(response, { title: 'Activity', section: 'account', width: 'wide', content });
  }
}

/** Actors that are no operators. */
const OTHERS = ['service', 'secret-scanner'];

/** Hides who the operators are, and from where they work. */
function asSeenBy(accountId: string, entry: AuditEntry): AuditEntry {
  const isOperator = !OTHERS.includes(entry.actor) && !entry.actor.startsWith(`account:${accountId}`);
  return isOperator ? { ...entry, actor: 'operator', source: null } : entry;
}
