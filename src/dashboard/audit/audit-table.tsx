import type { AuditEntry } from '../../accounts/audit/audit-log.js';
import { Moment } from '../format/times.js';
import { Table } from '../parts/table.js';

export const AUDIT_NOTE = 'Latest first. Times are in UTC. Secrets, prompts and answers are never in the log.';

export function AuditTable({ entries }: { readonly entries: readonly AuditEntry[] }) {
  return (
    <Table
      caption="Entries, latest first"
      rows={entries}
      empty="No entry matches."
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
