import { Get, Inject } from '@nestjs/common';
import {
  AccountsService,
  AUDIT_ACTIONS,
  auditDay,
  type AuditEntry,
  type AuditFilter,
  AuditLog,
  type AuditPage,
  wireEntry,
} from '../../plugin-api/core/accounts.js';
import { ServiceError } from '../../plugin-api/core/common.js';
import { type Config, CONFIG } from '../../plugin-api/core/config.js';
import { PartOf } from '../../plugin-api/core/http.js';
import { RateLimited } from '../../plugin-api/core/throttling.js';
import { ReportSemaphore } from '../../plugin-api/core/usage.js';
import { AuditTable } from './audit-table.js';
import { OperatorOnly } from './operator/operator-only.decorator.js';
import { CurrentPageRequest, PageController, type PageRequest } from './page-controller.decorator.js';
import { Pages } from './pages.js';
import { Notice } from './parts/blocks.js';
import { csvOf, sendCsv } from './parts/csv-file.js';
import { choiceField, FilterForm, OlderLinks, PAGE_SIZE, positionIn } from './parts/lists.js';
import { pathWith, textsIn, type QueryValues } from './parts/query.js';
import { ACTIVITY_PATH, AUDIT_PATH } from './paths.js';

const MAX_LENGTH = 255;
const COLUMNS = ['at', 'actor', 'action', 'target', 'source', 'before', 'after'] as const;
/** Of one file. */
const MAX_ENTRIES = 50_000;
const NONE: AuditPage = { entries: [], next: undefined };

/** The page of operators with the audit log. */
@PartOf('audit')
@PageController(AUDIT_PATH)
@RateLimited('pages')
@OperatorOnly()
export class AuditController {
  constructor(
    private readonly pages: Pages,
    private readonly log: AuditLog,
    private readonly accounts: AccountsService,
    private readonly semaphore: ReportSemaphore,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  @Get()
  async list(@CurrentPageRequest() { accountId: operatorId, query: values, response }: PageRequest): Promise<void> {
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
            choiceField({ label: 'Action', name: 'action', all: 'All actions', value: query.action }, AUDIT_ACTIONS),
            { label: 'From (UTC)', name: 'from', type: 'date', value: query.from, isOptional: true },
            { label: 'To (UTC)', name: 'to', type: 'date', value: query.to, isOptional: true },
          ]}
          button="Filter"
        />
        <Notice>{problem}</Notice>
        <AuditTable entries={found.entries} currency={this.config.currency} forOperators />
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
  async download(@CurrentPageRequest() { accountId: operatorId, query, response }: PageRequest): Promise<void> {
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

/** The page with the changes of the account that is signed in, its keys and its sessions. */
@PartOf('audit')
@PageController(ACTIVITY_PATH)
export class ActivityController {
  constructor(
    private readonly pages: Pages,
    private readonly log: AuditLog,
    private readonly semaphore: ReportSemaphore,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  @Get()
  @RateLimited('pages')
  async list(@CurrentPageRequest() { accountId, query, response }: PageRequest): Promise<void> {
    const before = positionIn(query);
    const { entries, next } = await this.semaphore.run(accountId, () =>
      this.log.page({ accountId }, before, PAGE_SIZE),
    );
    const content = (
      <>
        <h1>Activity</h1>
        <AuditTable entries={entries.map((entry) => asSeenBy(accountId, entry))} currency={this.config.currency} />
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

const AUDIT_NOTE = 'Latest first. Secrets, prompts and answers are never in the log.';
