import type { ListedApiKey } from '../../accounts/api-keys/api-keys.service.js';
import { Moment, OptionalMoment } from '../layout/moment.js';
import { cost, count } from '../usage/number-text.js';
import type { UsageSum } from '../usage/usage-sum.js';
import type { KeySpend } from './key-spend.js';
import { stateOf, type KeyState } from './key-state.js';

const BADGES: Readonly<Record<KeyState, readonly [label: string, tone: string]>> = {
  active: ['Active', 'good'],
  expired: ['Expired', ''],
  revoked: ['Revoked', 'bad'],
};

/** A table with one row for each key. The roles are explicit because the stylesheet changes the table layout on phones. */
interface KeyTableProps {
  readonly keys: readonly ListedApiKey[];
  readonly now: number;
  /** Without it, the table has no column with the spend. */
  readonly spend: KeySpend | undefined;
}

export function KeyTable({ keys, now, spend }: KeyTableProps) {
  const hasCosts = [...(spend?.values() ?? [])].some(({ costs }) => costs.size > 0);
  const shownSpend = spend === undefined ? undefined : { spend, hasCosts };
  return (
    <table class="keys" role="table" aria-label="API keys">
      <thead role="rowgroup">
        <tr role="row">
          {[
            'Name',
            'Key',
            'Created',
            'Last used',
            'Expires',
            ...(shownSpend === undefined ? [] : ['Last 30 days']),
            'State',
          ].map((title) => (
            <th key={title} scope="col" role="columnheader">
              {title}
            </th>
          ))}
          <th scope="col" role="columnheader">
            <span class="visually-hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody role="rowgroup">
        {keys.map((key) => (
          <KeyRow key={key.id} listed={key} state={stateOf(key, now)} shownSpend={shownSpend} />
        ))}
      </tbody>
    </table>
  );
}

interface KeyRowProps {
  readonly listed: ListedApiKey;
  readonly state: KeyState;
  readonly shownSpend: { readonly spend: KeySpend; readonly hasCosts: boolean } | undefined;
}

function KeyRow({ listed, state, shownSpend }: KeyRowProps) {
  const { id, name, prefix, createdAt, lastUsedAt, expiresAt, revokedAt } = listed;
  const [label, tone] = BADGES[state];
  return (
    <tr role="row" class={state === 'active' ? '' : 'ended'}>
      <th scope="row" role="rowheader" id={`key-${id}`}>
        {name}
      </th>
      <td role="cell" data-label="Key">
        <code>{prefix}…</code>
      </td>
      <td role="cell" data-label="Created">
        <Moment at={createdAt} />
      </td>
      <td role="cell" data-label="Last used">
        <OptionalMoment at={lastUsedAt} none="Never" />
      </td>
      <td role="cell" data-label="Expires">
        <OptionalMoment at={expiresAt} none="Never" />
      </td>
      {shownSpend === undefined ? null : (
        <td role="cell" data-label="Last 30 days">
          <Spend sum={shownSpend.spend.get(id)} hasCosts={shownSpend.hasCosts} id={id} />
        </td>
      )}
      <td role="cell" data-label="State">
        <span class={`badge ${tone}`}>{label}</span>
        {revokedAt === null ? null : (
          <span class="fine since">
            <Moment at={revokedAt} />
          </span>
        )}
      </td>
      <td role="cell">
        {state === 'active' ? (
          <div class="row-actions">
            <Action action="rotate" label="Rotate" id={id} />
            <Action action="revoke" label="Revoke" id={id} />
          </div>
        ) : null}
      </td>
    </tr>
  );
}

/** The cost of the last 30 days, or the number of requests if no model has a price. Leads to the usage of the key. */
function Spend({
  sum,
  hasCosts,
  id,
}: {
  readonly sum: UsageSum | undefined;
  readonly hasCosts: boolean;
  readonly id: string;
}) {
  if (sum === undefined) return <span class="none">–</span>;
  const requests = sum.requests === 1 ? '1 request' : `${count(sum.requests)} requests`;
  return <a href={`/usage?days=30&key=${id}`}>{hasCosts ? cost(sum) : requests}</a>;
}

/** A button that opens the confirmation page of the action. */
function Action({ action, label, id }: { readonly action: string; readonly label: string; readonly id: string }) {
  return (
    <form method="get" action={`/settings/api-keys/${id}/${action}`}>
      <button class="quiet" aria-describedby={`key-${id}`}>
        {label}
      </button>
    </form>
  );
}
