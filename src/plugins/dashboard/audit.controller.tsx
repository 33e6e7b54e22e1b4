import { Get, Inject } from '@nestjs/common';
import {
  type AuditEntry,
  AccountsService,
  AUDIT_ACTIONS,
  auditDay,
  type AuditFilter,
  AuditLog,
  type AuditPage,
  wireEntry,
} from '../../plugin-api/core/accounts.js';
import { ServiceError } from '../../plugin-api/core/common.js';
import { MICROS, type Config, CONFIG } from '../../plugin-api/core/config.js';
import { PartOf } from '../../plugin-api/core/http.js';
import { RateLimited } from '../../plugin-api/core/throttling.js';
import { ReportSemaphore } from '../../plugin-api/core/usage.js';
import { count, money, LocalTime } from './numbers-and-times.js';
import { OperatorOnly } from './operator/operator-actions.js';
import { CurrentPageRequest, PageController, type PageRequest } from './page-controller.decorator.js';
import { Pages } from './pages.js';
import { Notice } from './parts/blocks.js';
import { csvOf, sendCsv, choiceField, FilterForm, OlderLinks, PAGE_SIZE, positionIn } from './parts/lists.js';
import { pathWith, textsIn, type QueryValues, accountPath, ACTIVITY_PATH, AUDIT_PATH } from './paths.js';
import { Table } from './parts/table.js';

interface AuditTableProps {
  readonly entries: readonly AuditEntry[];
  /** Of all budgets. */
  readonly currency: string;
  /** Whether the names of accounts lead to their pages. */
  readonly forOperators?: boolean;
}

function AuditTable({ entries, currency, forOperators = false }: AuditTableProps) {
  return (
    <Table
      caption="Entries, latest first"
      rows={entries}
      empty="No entry matches."
      columns={[
        { title: 'Time', cell: ({ at }) => <LocalTime at={new Date(at)} shows="second" /> },
        { title: 'Action', cell: ({ action }) => <code>{action}</code> },
        { title: 'By', cell: ({ actor }) => <Name text={actor} hasLink={forOperators} /> },
        { title: 'Address', cell: ({ source }) => source ?? <span class="none">–</span> },
        { title: 'Target', cell: ({ target }) => <Name text={target} hasLink={forOperators} /> },
        { title: 'Change', cell: (entry) => <Change entry={entry} currency={currency} /> },
      ]}
    />
  );
}

/** `account:<id> (<email>)`, for example. */
const NAMED = /^([\w-]+):(.*?)(?: \((.*)\))?$/;
const UUID = /^[\da-f]{8}-[\da-f-]{27}$/;

/** The address of an account, or else the kind and the name, or the beginning of the id. The whole text is in the file and in the title. */
function Name({ text, hasLink }: { readonly text: string; readonly hasLink: boolean }) {
  const [, kind, id = '', name] = NAMED.exec(text) ?? [];
  if (kind === undefined) return <>{text}</>;
  const isAccount = kind === 'account' && name !== undefined;
  const shown = isAccount ? name : `${kind} ${name ?? (UUID.test(id) ? `${id.slice(0, 8)}…` : id)}`;
  return (
    <span class="whole" title={text}>
      {isAccount && hasLink ? <a href={accountPath(id)}>{shown}</a> : shown}
    </span>
  );
}

interface ChangeProps {
  readonly entry: Pick<AuditEntry, 'before' | 'after'>;
  readonly currency: string;
}

/** The values that have changed, as people write them. */
function Change({ entry, currency }: ChangeProps) {
  const [before, after] = [textsOf(entry.before, currency), textsOf(entry.after, currency)];
  const names = [...new Set([...before.keys(), ...after.keys()])];
  const isUpdate = entry.before !== null && entry.after !== null;
  const changes = names
    .filter((name) => before.get(name) !== after.get(name))
    .map((name) => {
      const [old, present] = [before.get(name), after.get(name)];
      return `${name}: ${isUpdate ? `${old ?? 'none'} → ${present ?? 'none'}` : (present ?? old ?? '')}`;
    });
  if (changes.length === 0) return <span class="none">–</span>;
  return (
    <>
      {changes.map((change) => (
        <div key={change}>{change}</div>
      ))}
    </>
  );
}

/** The values that are set, with their names. A budget is one value. */
function textsOf(values: unknown, currency: string): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  if (values === null || typeof values !== 'object') return texts;
  const { budget_micros: micros, budget_per: per, ...others } = values as Readonly<Record<string, unknown>>;
  for (const [name, value] of Object.entries(others)) {
    if (value !== null) texts.set(name.replace(/_at$/, '').replaceAll('_', ' '), textOf(name, value));
  }
  if (typeof micros === 'number') texts.set('budget', `${money(micros / MICROS, currency)} per ${String(per)}`);
  return texts;
}

function textOf(name: string, value: unknown): string {
  if (typeof value === 'number') return count(value);
  if (Array.isArray(value)) return value.join(', ');
  const text = String(value);
  return name.endsWith('_at') ? `${text.slice(0, 16).replace('T', ' ')} UTC` : text;
}

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
