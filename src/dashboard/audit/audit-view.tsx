import type { AuditEntry, AuditPage } from '../../accounts/audit/audit-log.js';
import { PageForm } from '../forms/page-form.js';
import { Moment } from '../format/times.js';
import { positionQuery } from '../parts/list-position.js';
import { Notice } from '../parts/notice.js';
import { OlderLinks } from '../parts/older-links.js';
import { pathWith } from '../parts/query.js';
import { Table } from '../parts/table.js';

/** The filter of operators, as the address of the page says it. */
export interface AuditQuery {
  readonly account?: string | undefined;
  readonly action?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

interface AuditViewProps {
  readonly title: string;
  readonly path: string;
  readonly found: AuditPage;
  readonly isFirstPage: boolean;
  /** `undefined`: the page has no filter. */
  readonly query?: AuditQuery | undefined;
  /** What is wrong with the filter. */
  readonly problem?: string | undefined;
}

/** The page with the entries of the audit log: of all accounts for operators, or of the account that is signed in. */
export function AuditView({ title, path, found, isFirstPage, query, problem }: AuditViewProps) {
  const { entries, next } = found;
  return (
    <>
      <h1>{title}</h1>
      {query === undefined ? null : <FilterForm path={path} query={query} />}
      <Notice>{problem}</Notice>
      {entries.length === 0 ? <p class="empty">No entry matches.</p> : <Entries entries={entries} />}
      <OlderLinks
        latest={isFirstPage ? undefined : pathWith(path, { ...query })}
        older={next && pathWith(path, { ...query, ...positionQuery(next) })}
      />
      {query === undefined ? null : (
        <p>
          <a href={pathWith(`${path}/export.csv`, { ...query })}>Download as CSV</a>
        </p>
      )}
      <p class="fine">Latest first. Times are in UTC. Secrets, prompts and answers are never in the log.</p>
    </>
  );
}

function FilterForm({ path, query }: { readonly path: string; readonly query: AuditQuery }) {
  return (
    <PageForm
      method="get"
      action={path}
      layout="row"
      fields={[
        { label: 'Account', name: 'account', type: 'search', value: query.account, placeholder: 'email or ID' },
        { label: 'Action', name: 'action', type: 'search', value: query.action, placeholder: 'key.created' },
        { label: 'From', name: 'from', type: 'search', value: query.from, placeholder: 'YYYY-MM-DD' },
        { label: 'To', name: 'to', type: 'search', value: query.to, placeholder: 'YYYY-MM-DD' },
      ]}
      button="Filter"
      tone="quiet"
    />
  );
}

function Entries({ entries }: { readonly entries: readonly AuditEntry[] }) {
  return (
    <Table
      caption="Entries, latest first"
      rows={entries}
      columns={[
        { title: 'Time (UTC)', cell: ({ at }) => <Moment at={new Date(at)} withSeconds /> },
        { title: 'Action', cell: ({ action }) => <code>{action}</code> },
        { title: 'By', cell: ({ actor }) => <Name text={actor} /> },
        { title: 'Address', cell: ({ source }) => source ?? <span class="none">–</span> },
        { title: 'Target', cell: ({ target }) => <Name text={target} /> },
        { title: 'Before', cell: ({ before }) => <Values values={before} /> },
        { title: 'After', cell: ({ after }) => <Values values={after} /> },
      ]}
    />
  );
}

/** The address of an account, or else the kind and the beginning of the id. The whole text is in the CSV and in the title. */
function Name({ text }: { readonly text: string }) {
  const email = / \(([^()]+)\)$/.exec(text)?.[1];
  const [kind = '', id] = text.split(':', 2);
  return (
    <span class="whole" title={text}>
      {email ?? (id === undefined ? kind : `${kind} ${id.slice(0, 8)}…`)}
    </span>
  );
}

/** The values that are set. */
function Values({ values }: { readonly values: unknown }) {
  if (values === null || typeof values !== 'object') return <span class="none">–</span>;
  const set = Object.entries(values).filter(([, value]) => value !== null);
  return <span class="changes">{set.map(([name, value]) => `${name}: ${String(value)}`).join(', ') || '–'}</span>;
}
