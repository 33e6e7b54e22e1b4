import { Get } from '@nestjs/common';
import { AuditLog, type AuditEntry } from '../../accounts/audit/audit-log.js';
import { SessionOnly } from '../../auth/session/session.guard.js';
import { LimitedByBudget } from '../../throttling/budgets/limited-by-budget.decorator.js';
import { ReportSemaphore } from '../../usage/reports/report-semaphore.js';
import { PageController } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { OlderLinks, PAGE_SIZE, positionIn } from '../parts/lists.js';
import { ACTIVITY_PATH } from '../paths.js';
import { CurrentVisit, type Visit } from '../visit.decorator.js';
import { AUDIT_NOTE, AuditTable } from './audit-table.js';

/** The page with the changes of the account that is signed in, its keys and its sessions. */
@PageController(ACTIVITY_PATH)
@SessionOnly()
export class ActivityController {
  constructor(
    private readonly pages: Pages,
    private readonly log: AuditLog,
    private readonly semaphore: ReportSemaphore,
  ) {}

  @Get()
  @LimitedByBudget('pages')
  async list(@CurrentVisit() { accountId, query, response }: Visit): Promise<void> {
    const before = positionIn(query);
    const { entries, next } = await this.semaphore.run(accountId, () =>
      this.log.page({ accountId }, before, PAGE_SIZE),
    );
    const content = (
      <>
        <h1>Activity</h1>
        <AuditTable entries={entries.map((entry) => asSeenBy(accountId, entry))} />
        <OlderLinks path={ACTIVITY_PATH} before={before} next={next} />
        <p class="fine">{AUDIT_NOTE}</p>
      </>
    );
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
