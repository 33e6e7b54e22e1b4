import { Inject, Injectable } from '@nestjs/common';
import type { ListedApiKey } from '../../../plugin-api/core/accounts.js';
import { type Clock, CLOCK } from '../../../plugin-api/core/common.js';
import { KEY_LIMITS } from '../../../plugin-api/core/config.js';
import { type BudgetState, UsageReports } from '../../../plugin-api/core/usage.js';
import { optionalPart } from '../pages.js';
import { type Fact, Notice } from '../parts/blocks.js';
import { LocalTime, count, countOf } from '../numbers-and-times.js';
import { Table, type RowAction } from '../parts/table.js';
import { choiceIn, textIn, type QueryValues } from '../paths.js';
import { BudgetCell, isAlmostUsedUp, percentage, usedShare } from '../usage/limits-section.js';
import { cost, SignNotes } from '../usage/usage-sum.js';
import { lastDays } from '../usage/usage-filter.js';
import { UsageTotals } from '../usage/usage-reader.js';

/** The badge of each state. */
export const KEY_STATES = {
  active: ['Active', 'good'],
  expired: ['Expired', ''],
  revoked: ['Revoked', 'bad'],
} as const;

type KeyState = keyof typeof KEY_STATES;

export function stateOf(
  { revokedAt, expiresAt }: Pick<ListedApiKey, 'revokedAt' | 'expiresAt'>,
  now: number,
): KeyState {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && expiresAt.getTime() <= now ? 'expired' : 'active';
}

interface KeyStateBadgeProps {
  readonly apiKey: Pick<ListedApiKey, 'revokedAt' | 'expiresAt'>;
  readonly now: number;
}

/** The state of a key in one word. */
export function KeyStateBadge({ apiKey, now }: KeyStateBadgeProps) {
  const [label, tone] = KEY_STATES[stateOf(apiKey, now)];
  return <span class={`badge ${tone}`}>{label}</span>;
}

/** The keys that the list shows. */
export interface KeyFilter {
  /** A part of the name or the beginning of the key. */
  readonly search?: string | undefined;
  readonly state?: KeyState | undefined;
}

export function keyFilterIn({ search, state }: QueryValues): KeyFilter {
  return { search: textIn(search, 100), state: choiceIn(state, KEY_STATES) };
}

/** The keys that pass the filter: active keys first, and the latest first among keys of the same kind. */
export function chosenKeys(
  keys: readonly ListedApiKey[],
  { search = '', state }: KeyFilter,
  now: number,
): ListedApiKey[] {
  const wanted = search.toLowerCase();
  const isActive = (key: ListedApiKey) => stateOf(key, now) === 'active';
  return keys
    .filter((key) => state === undefined || stateOf(key, now) === state)
    .filter(({ name, prefix }) => name.toLowerCase().includes(wanted) || wanted.startsWith(prefix.toLowerCase()))
    .sort(
      (one, other) =>
        Number(isActive(other)) - Number(isActive(one)) || other.createdAt.getTime() - one.createdAt.getTime(),
    );
}

/** The facts about a key for a user who is about to revoke or rotate the key. */
export function keyFacts({ prefix, createdAt, lastUsedAt, expiresAt }: ListedApiKey): readonly Fact[] {
  return [
    ['Key', <code>{prefix}…</code>],
    ['Created', <LocalTime at={createdAt} />],
    ['Last used', <LocalTime at={lastUsedAt} />],
    ['Expires', <LocalTime at={expiresAt} />],
  ];
}

/** What each key of an account has spent in the last 30 days. */
@Injectable()
export class KeySpends {
  constructor(
    private readonly reports: UsageReports,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /** Returns `undefined` when the sums cannot be read, because the list of keys is useful without them. */
  of(accountId: string): Promise<UsageTotals | undefined> {
    const { from, to } = lastDays(30, this.now());
    const rows = this.reports.pages(from, to, accountId);
    return optionalPart(new UsageTotals(({ keyId }) => keyId !== null).read(rows));
  }
}

interface KeyTableProps {
  readonly keys: readonly ListedApiKey[];
  /** What the page shows without keys. */
  readonly empty?: string;
  readonly now: number;
  /** Without it, the table has no column with the spend. */
  readonly spend: UsageTotals | undefined;
  /** The budgets by the id of the key. The table has a column with budgets if there are any. */
  readonly budgets: ReadonlyMap<string, BudgetState> | undefined;
  /** The path of the page with the usage of the key. */
  readonly usageOf: (keyId: string) => string;
  /** The pages that confirm an action on the key. */
  readonly actionsOn: (keyId: string) => readonly RowAction[];
}

/** A table with one row for each key. */
export function KeyTable({ keys, empty, now, spend, budgets, usageOf, actionsOn }: KeyTableProps) {
  const isActive = (key: ListedApiKey) => stateOf(key, now) === 'active';
  const hasCosts = spend !== undefined && spend.total.costs.size > 0;
  const spendOf = ({ id }: ListedApiKey) => {
    const sum = spend?.sumOfKey(id);
    if (sum === undefined) return <span class="none">–</span>;
    return <a href={usageOf(id)}>{hasCosts ? cost(sum) : countOf(sum.requests, 'request')}</a>;
  };
  const stateIn = (key: ListedApiKey) => (
    <>
      <KeyStateBadge apiKey={key} now={now} />
      {key.revokedAt === null ? null : (
        <span class="fine since">
          <LocalTime at={key.revokedAt} />
        </span>
      )}
    </>
  );
  const sums = keys.map(({ id }) => spend?.sumOfKey(id)).filter((sum) => sum !== undefined);
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
        { title: 'Created', cell: ({ createdAt }) => <LocalTime at={createdAt} /> },
        { title: 'Last used', cell: ({ lastUsedAt }) => <LocalTime at={lastUsedAt} /> },
        { title: 'Expires', cell: ({ expiresAt }) => <LocalTime at={expiresAt} /> },
        spend !== undefined && { title: 'Last 30 days', cell: spendOf },
        budgets !== undefined &&
          budgets.size > 0 && { title: 'Budget', cell: ({ id }) => <BudgetCell budget={budgets.get(id)} /> },
        keys.some((key) => limitLines(key).length > 0) && { title: 'Limits of the key', cell: limitsOf },
        { title: 'State', cell: stateIn },
      ]}
      actions={{ headId: ({ id }) => `key-${id}`, of: (key) => (isActive(key) ? actionsOn(key.id) : []) }}
    />
  );
  if (keys.length === 0) return table;
  return (
    <>
      {table}
      <SignNotes sums={sums} withCost={hasCosts} />
      <p class="fine">“Last used” can be up to a minute late.</p>
    </>
  );
}

/** The limits that a key has in addition to those of its account, one in a line. The budget has a column of its own. */
function limitLines({ models, requestsPerMinute, tokensPerDay, addresses }: ListedApiKey): readonly string[] {
  return [
    requestsPerMinute === null ? undefined : `${count(requestsPerMinute)} ${KEY_LIMITS.keyRequestsPerMinute.label}`,
    tokensPerDay === null ? undefined : `${count(tokensPerDay)} ${KEY_LIMITS.keyTokensPerDay.label}`,
    models === null ? undefined : `Models: ${models.join(', ')}`,
    addresses === null ? undefined : `Addresses: ${addresses.join(', ')}`,
  ].filter((line) => line !== undefined);
}

function limitsOf(key: ListedApiKey) {
  const lines = limitLines(key);
  return lines.length === 0 ? <span class="none">None</span> : lines.map((line) => <div key={line}>{line}</div>);
}

interface BudgetWarningsProps {
  readonly keys: readonly ListedApiKey[];
  /** The budgets by the id of the key. `undefined` when they cannot be read. */
  readonly budgets: ReadonlyMap<string, BudgetState> | undefined;
}

/** Warns of the budgets that are almost used up. */
export function BudgetWarnings({ keys, budgets }: BudgetWarningsProps) {
  const warnings = keys.flatMap(({ id, name }) => {
    const budget = budgets?.get(id);
    return budget !== undefined && isAlmostUsedUp(budget) ? [{ id, name, budget }] : [];
  });
  if (warnings.length === 0) return null;
  return (
    <Notice>
      {warnings.map(({ id, name, budget }) => (
        <div key={id}>
          {percentage(usedShare(budget))} of the budget of the key “{name}” is spent or reserved. Requests above the
          budget are refused until <LocalTime at={budget.resetsAt} />.
        </div>
      ))}
    </Notice>
  );
}
