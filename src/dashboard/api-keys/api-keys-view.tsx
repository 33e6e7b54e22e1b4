import type { ListedApiKey } from '../../accounts/api-keys/api-keys.service.js';
import type { FormProblems } from '../forms/form-problems.js';
import { PageForm } from '../forms/page-form.js';
import { Notice } from '../parts/notice.js';
import { Pagination, type Paging } from '../parts/pagination.js';
import type { BudgetState } from '../../usage/budgets/spend-budgets.js';
import { BudgetWarnings } from './key-budget.js';
import type { KeySpend } from './key-spends.js';
import { KeyTable } from './key-table.js';
import { LIFETIMES } from './lifetimes.js';
import type { KeyFilter } from './listed-keys.js';
import { NewKeyView, type NewKey } from './new-key-view.js';

export const PATH = '/settings/api-keys';

const STATES = { '': 'All states', active: 'Active', expired: 'Expired', revoked: 'Revoked' } as const;

export interface ApiKeysViewProps {
  readonly accountId: string;
  readonly keys: readonly ListedApiKey[];
  /** Whether the account has any key, also if the filter shows none. */
  readonly hasKeys: boolean;
  readonly filter: KeyFilter;
  /** `undefined` when the sums cannot be read. */
  readonly spend: KeySpend | undefined;
  /** The budgets of the active keys on this page, by the id of the key. */
  readonly budgets: ReadonlyMap<string, BudgetState>;
  readonly paging: Paging;
  readonly now: number;
  /** The id of the key that the form creates. If a browser sends the form twice, the service still creates one key. */
  readonly nextId: string;
  readonly newKey?: NewKey;
  readonly done?: string | undefined;
  readonly name?: string;
  readonly lifetime?: string | undefined;
  readonly problems?: FormProblems;
}

export function ApiKeysView(props: ApiKeysViewProps) {
  const { accountId, keys, hasKeys, filter, spend, budgets, paging, now, nextId, newKey, done, problems } = props;
  return (
    <>
      <h1>API keys</h1>
      <p class="lead">
        API keys let your programs use this service. Create one key for each program, so you can revoke one without
        affecting the rest.
      </p>
      <Notice tone="good">{done}</Notice>
      {newKey === undefined ? null : <NewKeyView {...newKey} />}
      <PageForm
        action={PATH}
        heading="Create a key"
        layout="wide"
        accountId={accountId}
        fields={[
          { label: 'Name', name: 'name', type: 'text', value: props.name ?? '', maxLength: 100, autoComplete: 'off' },
          {
            label: 'Expires',
            name: 'expires_in_days',
            type: 'select',
            options: LIFETIMES,
            value: props.lifetime ?? 'never',
          },
          { type: 'hidden', name: 'id', value: nextId },
        ]}
        button="Create key"
        once
        problems={problems}
      />
      <section>
        <h2>Your keys</h2>
        <BudgetWarnings keys={keys} budgets={budgets} />
        {hasKeys ? (
          <PageForm
            method="get"
            action={PATH}
            layout="row"
            fields={[
              {
                label: 'Search',
                name: 'search',
                type: 'search',
                value: filter.search ?? '',
                maxLength: 100,
                placeholder: 'name or key',
              },
              { label: 'State', name: 'state', type: 'select', options: STATES, value: filter.state },
            ]}
            button="Apply"
            tone="quiet"
          />
        ) : null}
        {keys.length === 0 ? (
          <p class="empty">{hasKeys ? 'No key matches.' : 'No keys yet.'}</p>
        ) : (
          <KeyTable
            keys={keys}
            now={now}
            spend={spend}
            budgets={budgets}
            usageOf={(id) => `/usage?days=30&key=${id}`}
            actionsOn={(id) => [
              ['Edit', `${PATH}/${id}/edit`],
              ['Rotate', `${PATH}/${id}/rotate`],
              ['Revoke', `${PATH}/${id}/revoke`],
            ]}
          />
        )}
        <Pagination path={PATH} filter={{ ...filter }} paging={paging} />
      </section>
    </>
  );
}
