import type { AuditEntry } from '../../plugin-api/core/accounts.js';
import { MICROS } from '../../plugin-api/core/config.js';
import { count, money } from './format/numbers.js';
import { LocalTime } from './format/times.js';
import { Table } from './parts/table.js';
import { accountPath } from './paths.js';

interface AuditTableProps {
  readonly entries: readonly AuditEntry[];
  /** Of all budgets. */
  readonly currency: string;
  /** Whether the names of accounts lead to their pages. */
  readonly forOperators?: boolean;
}

export function AuditTable({ entries, currency, forOperators = false }: AuditTableProps) {
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
