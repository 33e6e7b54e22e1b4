import type { ComponentChildren } from 'preact';
import type { ListedApiKey } from '../../accounts/api-keys/api-keys.service.js';
import { PageForm } from '../forms/page-form.js';
import { requestCount } from '../format/numbers.js';
import { SignNotes } from '../usage/sign-notes.js';
import { cost } from '../usage/sum-texts.js';
import { Moment } from '../format/times.js';
import { Table } from '../parts/table.js';
import type { BudgetState } from '../../usage/budgets/spend-budgets.js';
import { KeyBudget } from './key-budget.js';
import type { KeySpend } from './key-spends.js';
import { KEY_STATES, stateOf } from './listed-keys.js';

interface KeyTableProps {
  readonly keys: readonly ListedApiKey[];
  readonly now: number;
  /** Without it, the table has no column with the spend. */
  readonly spend: KeySpend | undefined;
  /** The budgets by the id of the key. The table has a column with budgets if there are any. */
  readonly budgets?: ReadonlyMap<string, BudgetState> | undefined;
  /** The path of the page with the usage of the key. */
  readonly usageOf: (keyId: string) => string;
  /** Shows the limits of a key. Without it, the table has no column with the limits. */
  readonly limitsOf?: (key: ListedApiKey) => ComponentChildren;
  /** The labels and paths of the pages that confirm an action on the key. */
  readonly actionsOn: (keyId: string) => readonly (readonly [label: string, path: string])[];
}

const NO_BUDGETS: ReadonlyMap<string, BudgetState> = new Map();

/** A table with one row for each key. */
export function KeyTable({ keys, now, spend, budgets = NO_BUDGETS, usageOf, limitsOf, actionsOn }: KeyTableProps) {
  const isActive = (key: ListedApiKey) => stateOf(key, now) === 'active';
  const spendOf = ({ id }: ListedApiKey) => {
    const sum = spend?.of(id);
    if (spend === undefined || sum === undefined) return <span class="none">–</span>;
    return <a href={usageOf(id)}>{spend.hasCosts ? cost(sum) : requestCount(sum.requests)}</a>;
  };
  const sums = keys.map(({ id }) => spend?.of(id)).filter((sum) => sum !== undefined);
  const stateIn = (key: ListedApiKey) => {
    const [label, tone] = KEY_STATES[stateOf(key, now)];
    return (
      <>
        <span class={`badge ${tone}`}>{label}</span>
        {key.revokedAt === null ? null : (
          <span class="fine since">
            <Moment at={key.revokedAt} />
          </span>
        )}
      </>
    );
  };
  const actionsIn = ({ id }: ListedApiKey) =>
    actionsOn(id).map(([label, path]) => (
      <PageForm key={path} method="get" action={path} button={label} tone="quiet" describedBy={`key-${id}`} />
    ));
  return (
    <>
      <Table
        caption="API keys"
        isCards
        rows={keys}
        headId={({ id }) => `key-${id}`}
        isEnded={(key) => !isActive(key)}
        columns={[
          { title: 'Name', cell: ({ name }) => name },
          { title: 'Key', cell: ({ prefix }) => <code>{prefix}…</code> },
          { title: 'Created', cell: ({ createdAt }) => <Moment at={createdAt} /> },
          { title: 'Last used', cell: ({ lastUsedAt }) => <Moment at={lastUsedAt} /> },
          { title: 'Expires', cell: ({ expiresAt }) => <Moment at={expiresAt} /> },
          spend !== undefined && { title: 'Last 30 days', cell: spendOf },
          budgets.size > 0 && { title: 'Budget', cell: ({ id }) => <KeyBudget budget={budgets.get(id)} /> },
          limitsOf !== undefined && { title: 'Limits of the key', cell: limitsOf },
          { title: 'State', cell: stateIn },
          { title: 'Actions', isActions: true, cell: (key) => (isActive(key) ? actionsIn(key) : null) },
        ]}
      />
      {spend === undefined ? null : <SignNotes sums={sums} withCost={spend.hasCosts} />}
      <p class="fine">All times are in UTC. “Last used” can be up to a minute late.</p>
    </>
  );
}
