import { Get } from '@nestjs/common';
import { AccountsService } from '../../accounts/accounts/accounts.service.js';
import { auditDay } from '../../accounts/audit/audit-day.js';
import { AuditLog, wireEntry, type AuditFilter, type AuditPage } from '../../accounts/audit/audit-log.js';
import { ServiceError } from '../../common/service-error.js';
import { LimitedByBudget } from '../../throttling/budgets/limited-by-budget.decorator.js';
import { ReportSemaphore } from '../../usage/reports/report-semaphore.js';
import { OperatorOnly } from '../operator/operator-only.decorator.js';
import { PageController } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { csvOf, sendCsv } from '../parts/csv-file.js';
import { FilterForm, OlderLinks, PAGE_SIZE, positionIn } from '../parts/lists.js';
import { Notice } from '../parts/blocks.js';
import { pathWith, textsIn, type QueryValues } from '../parts/query.js';
import { AUDIT_PATH } from '../paths.js';
import { CurrentVisit, type Visit } from '../visit.decorator.js';
import { AUDIT_NOTE, AuditTable } from './audit-table.js';

const MAX_LENGTH = 255;
const COLUMNS = ['at', 'actor', 'action', 'target', 'source', 'before', 'after'] as const;
/** Of one file. */
const MAX_ENTRIES = 50_000;
const NONE: AuditPage = { entries: [], next: undefined };

/** The page of operators with the audit log. */
@PageController(AUDIT_PATH)
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
  async list(@CurrentVisit() { accountId: operatorId, query: values, response }: Visit): Promise<void> {
    const query = filterIn(values);
    const before = positionIn(values);
    let found = NONE;
    let problem: string | undefined;
    try {
      found = await this.semaphore.run(operatorId, async () =>
        this.log.page(await this.filterOf(query), before, PAGE_SIZE),
      );
    } catch (error) {
      if (!(error instanceof ServiceError) || error.status >= 429) throw error;
      problem = error.message;
    }
    const content = (
      <>
        <h1>Audit log</h1>
        <FilterForm
          path={AUDIT_PATH}
          fields={[
            { label: 'Account', name: 'account', type: 'search', value: query.account, placeholder: 'email or ID' },
            { label: 'Action', name: 'action', type: 'search', value: query.action, placeholder: 'key.created' },
            { label: 'From', name: 'from', type: 'search', value: query.from, placeholder: 'YYYY-MM-DD' },
            { label: 'To', name: 'to', type: 'search', value: query.to, placeholder: 'YYYY-MM-DD' },
          ]}
          button="Filter"
        />
        <Notice>{problem}</Notice>
        <AuditTable entries={found.entries} />
        <OlderLinks path={AUDIT_PATH} filter={query} before={before} next={found.next} />
        <p>
          <a href={pathWith(`${AUDIT_PATH}/export.csv`, query)}>Download as CSV</a>
        </p>
        <p class="fine">{AUDIT_NOTE}</p>
      </>
    );
    this.pages.send(response, { title: 'Audit log', section: 'audit', width: 'wide', content });
  }

  @Get('export.csv')
  async download(@CurrentVisit() { accountId: operatorId, query, response }: Visit): Promise<void> {
    const pages = this.log.pages(await this.filterOf(filterIn(query)));
    const body = await this.semaphore.run(operatorId, () =>
      csvOf({ columns: COLUMNS, pages, rowOf: wireEntry, maxRows: MAX_ENTRIES }),
    );
    sendCsv(response, 'audit.csv', body);
  }

  /** @throws {ServiceError} `not_found` for an address without an account, `invalid_request` for an invalid day. */
  private async filterOf({ account, action, from, to }: ReturnType<typeof filterIn>): Promise<AuditFilter> {
    const accountId = account?.includes('@') === true ? (await this.accounts.get(account)).id : account;
    return { accountId, action, from: auditDay(from, 'from'), to: auditDay(to, 'to') };
  }
}

/** The filter, as the address of the page says it. */
function filterIn(query: QueryValues) {
  return textsIn(query, ['account', 'action', 'from', 'to'], MAX_LENGTH);
}
