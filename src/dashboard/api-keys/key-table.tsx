import type { ComponentChildren } from 'preact';
import type { ListedApiKey } from '../../accounts/api-keys/api-keys.service.js';
import type { BudgetState } from '../../usage/budgets/spend-budgets.js';
import { requestCount } from '../format/numbers.js';
import { Moment } from '../format/times.js';
import { Table, type RowAction } from '../parts/table.js';
import { SignNotes } from '../usage/sign-notes.js';
import { cost } from '../usage/sum-texts.js';
import { KeyBudget } from './key-budget.js';
import type { KeySpend } from './key-spends.js';
import { KeyStateBadge, stateOf } from './listed-keys.js';

interface KeyTableProps {
  readonly keys: readonly ListedApiKey[];
  /** What the page shows without keys. */
  readonly empty?: string;
  readonly now: number;
  /** Without it, the table has no column with the spend. */
  readonly spend: KeySpend | undefined;
  /** The budgets by the id of the key. The table has a column with budgets if there are any. */
  readonly budgets: ReadonlyMap<string, BudgetState> | undefined;
  /** The path of the page with the usage of the key. */
  readonly usageOf: (keyId: string) => string;
  /** Shows the limits of a key. Without it, the table has no column with the limits. */
  readonly limitsOf?: (key: ListedApiKey) => ComponentChildren;
  /** The pages that confirm an action on the key. */
  readonly actionsOn: (keyId: string) => readonly RowAction[];
}

/** A table with one row for each key. */
export function KeyTable({ keys, empty, now, spend, budgets, usageOf, limitsOf, actionsOn }: KeyTableProps) {
  const isActive = (key: ListedApiKey) => stateOf(key, now) === 'active';
  const spendOf = ({ id }: ListedApiKey) => {
    const sum = spend?.of(id);
    if (spend === undefined || sum === undefined) return <span class="none">–</span>;
    return <a href={usageOf(id)}>{spend.hasCosts ? cost(sum) : requestCount(sum.requests)}</a>;
  };
  const stateIn = (key: ListedApiKey) => (
    <>
      <KeyStateBadge apiKey={key} now={now} />
      {key.revokedAt === null ? null : (
        <span class="fine since">
          <Moment at={key.revokedAt} />
        </span>
      )}
    </>
  );
  const sums = keys.map(({ id }) => spend?.of(id)).filter((sum) => sum !== undefined);
  const table = (
    <Table
      caption="API keys"
      isCards
      rows={keys}
      empty={empty}
      isEnded={(key) => !isActive(key)}
      columns={[
        { title: 'Name', cell: ({ name }) => name },
        { title: 'Key', cell: ({ prefix }) => <code>{prefix}…</code> },
        { title: 'Created', cell: ({ createdAt }) => <Moment at={createdAt} /> },
        { title: 'Last used', cell: ({ lastUsedAt }) => <Moment at={lastUsedAt} /> },
        { title: 'Expires', cell: ({ expiresAt }) => <Moment at={expiresAt} /> },
        spend !== undefined && { title: 'Last 30 days', cell: spendOf },
        budgets !== undefined &&
          budgets.size > 0 && { title: 'Budget', cell: ({ id }) => <KeyBudget budget={budgets.get(id)} /> },
        limitsOf !== undefined && { title: 'Limits of the key', cell: limitsOf },
        { title: 'State', cell: stateIn },
      ]}
      actions={{ headId: ({ id }) => `key-${id}`, of: (key) => (isActive(key) ? actionsOn(key.id) : []) }}
    />
  );
  if (keys.length === 0) return table;
  return (
    <>
      {table}
      {spend === undefined ? null : <SignNotes sums={sums} withCost={spend.hasCosts} />}
      <p class="fine">All times are in UTC. “Last used” can be up to a minute late.</p>
    </>
  );
}
