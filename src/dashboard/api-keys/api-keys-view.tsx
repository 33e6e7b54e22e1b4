import type { ListedApiKey } from '../../accounts/api-keys/api-keys.service.js';
import { Choice } from '../forms/choice.js';
import { MadeFor } from '../forms/made-for.js';
import { Field } from '../forms/field.js';
import type { FormProblems } from '../forms/field-problems.js';
import { Done, FormFailure } from '../forms/notice.js';
import type { PageOfMany } from '../layout/page-of-many.js';
import { Pagination } from '../layout/pagination.js';
import { keyQuery, type KeyFilter } from './key-filter.js';
import { KeyFilterForm } from './key-filter-form.js';
import type { KeySpend } from './key-spend.js';
import { KeyTable, type KeyAction } from './key-table.js';
import { LIFETIMES } from './lifetimes.js';
import { NewKeyView, type NewKey } from './new-key-view.js';

export interface ApiKeysViewProps {
  readonly accountId: string;
  readonly keys: readonly ListedApiKey[];
  /** Whether the account has any key, also if the filter shows none. */
  readonly hasKeys: boolean;
  readonly filter: KeyFilter;
  /** `undefined` when the sums cannot be read. */
  readonly spend: KeySpend | undefined;
  readonly shown: PageOfMany;
  readonly now: number;
  /** The id of the key that the form creates. If a browser sends the form twice, the service still creates one key. */
  readonly nextId: string;
  readonly newKey?: NewKey;
  readonly done?: string | undefined;
  readonly name?: string;
  readonly lifetime?: string;
  readonly problems?: FormProblems;
}

export function ApiKeysView(props: ApiKeysViewProps) {
  const { keys, hasKeys, filter, spend, shown, now, newKey, done } = props;
  return (
    <>
      <h1>API keys</h1>
      <p class="lead">
        API keys let your programs use this service. Create one key for each program, so you can revoke one without
        affecting the rest.
      </p>
      {done === undefined ? null : <Done>{done}</Done>}
      {newKey === undefined ? null : <NewKeyView {...newKey} />}
      <CreateForm {...props} />
      <section>
        <h2>Your keys</h2>
        {hasKeys ? <KeyFilterForm filter={filter} /> : null}
        {keys.length === 0 ? (
          <p class="empty">{hasKeys ? 'No key matches.' : 'No keys yet.'}</p>
        ) : (
          <>
            <KeyTable keys={keys} now={now} spend={spend} usageOf={usageOf} actionsOn={actionsOn} />
            <p class="fine">All times are in UTC. “Last used” can be up to a minute late.</p>
          </>
        )}
        <Pagination pathOf={(page) => `/settings/api-keys?${keyQuery(filter, page)}`} shown={shown} />
      </section>
    </>
  );
}

function usageOf(keyId: string): string {
  return `/usage?days=30&key=${keyId}`;
}

function actionsOn(keyId: string): readonly KeyAction[] {
  return [
    { label: 'Rotate', path: `/settings/api-keys/${keyId}/rotate` },
    { label: 'Revoke', path: `/settings/api-keys/${keyId}/revoke` },
  ];
}

function CreateForm({ accountId, nextId, name = '', lifetime = 'never', problems }: ApiKeysViewProps) {
  return (
    <form method="post" action="/settings/api-keys" data-once>
      <h2>Create a key</h2>
      <FormFailure problems={problems} fields={['name']} />
      <MadeFor accountId={accountId} />
      <input type="hidden" name="id" value={nextId} />
      <div class="fields">
        <Field
          label="Name"
          name="name"
          type="text"
          value={name}
          maxLength={100}
          autoComplete="off"
          problems={problems}
        />
        <Choice label="Expires" name="expires_in_days" options={LIFETIMES} selected={lifetime} />
        <button>Create key</button>
      </div>
    </form>
  );
}
