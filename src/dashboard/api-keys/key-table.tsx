import type { ListedApiKey } from '../../accounts/api-keys/api-keys.service.js';
import { Moment, OptionalMoment } from '../layout/moment.js';
import { cost, requestCount } from '../usage/number-text.js';
import type { UsageSum } from '../usage/usage-sum.js';
import type { KeySpend } from './key-spend.js';
import { stateOf, type KeyState } from './key-state.js';

const BADGES: Readonly<Record<KeyState, readonly [label: string, tone: string]>> = {
  active: ['Active', 'good'],
  expired: ['Expired', ''],
  revoked: ['Revoked', 'bad'],
};

/** The page that confirms an action on a key. */
export interface KeyAction {
  readonly label: string;
  readonly path: string;
}

interface KeyTableProps {
  readonly keys: readonly ListedApiKey[];
  readonly now: number;
  /** Without it, the table has no column with the spend. */
  readonly spend: KeySpend | undefined;
  /** The path of the page with the usage of the key. */
  readonly usageOf: (keyId: string) => string;
  /** The actions on an active key. */
  readonly actionsOn: (keyId: string) => readonly KeyAction[];
}

/** A table with one row for each key. The roles are explicit because the stylesheet changes the table layout on phones. */
export function KeyTable({ keys, now, spend, usageOf, actionsOn }: KeyTableProps) {
  const hasCosts = [...(spend?.values() ?? [])].some(({ costs }) => costs.size > 0);
  const shownSpend = spend === undefined ? undefined : { spend, hasCosts };
  return (
    <table class="cards" role="table" aria-label="API keys">
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
          <KeyRow
            key={key.id}
            listed={key}
            state={stateOf(key, now)}
            shownSpend={shownSpend}
            usageOf={usageOf}
            actionsOn={actionsOn}
          />
        ))}
      </tbody>
    </table>
  );
}

interface KeyRowProps extends Pick<KeyTableProps, 'usageOf' | 'actionsOn'> {
  readonly listed: ListedApiKey;
  readonly state: KeyState;
  readonly shownSpend: { readonly spend: KeySpend; readonly hasCosts: boolean } | undefined;
}

function KeyRow({ listed, state, shownSpend, usageOf, actionsOn }: KeyRowProps) {
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
          <Spend sum={shownSpend.spend.get(id)} hasCosts={shownSpend.hasCosts} path={usageOf(id)} />
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
            {actionsOn(id).map((action) => (
              <Action key={action.path} {...action} id={id} />
            ))}
          </div>
        ) : null}
      </td>
    </tr>
  );
}

interface SpendProps {
  readonly sum: UsageSum | undefined;
  readonly hasCosts: boolean;
  readonly path: string;
}

/** The cost of the last 30 days, or the number of requests if no model has a price. Leads to the usage of the key. */
function Spend({ sum, hasCosts, path }: SpendProps) {
  if (sum === undefined) return <span class="none">–</span>;
  return <a href={path}>{hasCosts ? cost(sum) : requestCount(sum.requests)}</a>;
}

/** A button that opens the confirmation page of the action. */
function Action({ label, path, id }: KeyAction & { readonly id: string }) {
  return (
    <form method="get" action={path}>
      <button class="quiet" aria-describedby={`key-${id}`}>
        {label}
      </button>
    </form>
  );
}
