import type { ListedApiKey } from '../../accounts/api-keys/api-keys.service.js';
import { Moment, OptionalMoment } from '../layout/moment.js';
import { stateOf, type KeyState } from './key-state.js';

const BADGES: Readonly<Record<KeyState, readonly [label: string, tone: string]>> = {
  active: ['Active', 'good'],
  expired: ['Expired', ''],
  revoked: ['Revoked', 'bad'],
};

/** A table with one row for each key. The roles are explicit because the stylesheet changes the table layout on phones. */
export function KeyTable({ keys, now }: { readonly keys: readonly ListedApiKey[]; readonly now: number }) {
  return (
    <table class="keys" role="table" aria-label="API keys">
      <thead role="rowgroup">
        <tr role="row">
          {['Name', 'Key', 'Created', 'Last used', 'Expires', 'State'].map((title) => (
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
          <KeyRow key={key.id} listed={key} state={stateOf(key, now)} />
        ))}
      </tbody>
    </table>
  );
}

function KeyRow({ listed, state }: { readonly listed: ListedApiKey; readonly state: KeyState }) {
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
