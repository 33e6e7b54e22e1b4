import { Inject, Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import type { Request } from 'express';
import { ApiKeysService, type CreatedApiKey } from '../../../plugin-api/core/accounts.js';
import { publicOriginOf } from '../../../plugin-api/core/auth.js';
import { type Clock, CLOCK } from '../../../plugin-api/core/common.js';
import { type Config, CONFIG } from '../../../plugin-api/core/config.js';
import { ModelCatalog } from '../../../plugin-api/core/models.js';
import { ListedBudgets } from '../../../plugin-api/core/usage.js';
import type { FormProblems } from '../forms/form-problems.js';
import { PageForm, type FormField } from '../forms/page-form.js';
import { optionalPart } from '../pages.js';
import type { Page } from '../layout/layout.js';
import { FilterForm, PAGE_SIZE, Pagination, pagingOf, stateField } from '../parts/lists.js';
import { Notice } from '../parts/blocks.js';
import type { QueryValues } from '../parts/query.js';
import { API_KEYS_PATH, USAGE_PATH } from '../paths.js';
import { BudgetWarnings, KeySpends, KeyTable } from './key-table.js';
import { LIFETIMES, limitFields, nameField, type KeyForm } from './key-form.js';
import { chosenKeys, KEY_STATES, keyFilterIn, stateOf, type KeyFilter } from './listed-keys.js';
import { NewKeyView, sdkSnippets, type NewKey, type ReplacedKey } from './new-key-view.js';

/** The values of the form that creates a key. */
export interface EnteredKey {
  readonly form?: KeyForm;
  readonly lifetime?: string | undefined;
  readonly problems?: FormProblems;
}

/** What the page shows in addition to the keys. */
interface Shown extends EnteredKey {
  readonly newKey?: NewKey;
  /** The report right after a change. */
  readonly done?: string | undefined;
}

/** Builds the page with the API keys of an account. */
@Injectable()
export class KeyList {
  constructor(
    private readonly keys: ApiKeysService,
    private readonly models: ModelCatalog,
    private readonly spends: KeySpends,
    private readonly budgets: ListedBudgets,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /** Builds one page of the list, as the query wants it. */
  async page(accountId: string, { newKey, done, ...creation }: Shown, query: QueryValues = {}): Promise<Page> {
    const [all, spend] = await Promise.all([this.keys.list(accountId), this.spends.of(accountId)]);
    const filter = keyFilterIn(query);
    const now = this.now();
    const chosen = chosenKeys(all, filter, now);
    const paging = pagingOf(query['page'], chosen.length);
    const keys = chosen.slice(paging.offset, paging.offset + PAGE_SIZE);
    const active = keys.filter((key) => stateOf(key, now) === 'active');
    const budgets = await optionalPart(this.budgets.ofKeys(accountId, active));
    const content = (
      <>
        <h1>API keys</h1>
        <p class="lead">
          API keys let your programs use this service. Create one key for each program, so you can revoke one without
          affecting the rest.
        </p>
        <Notice tone="good">{done}</Notice>
        {newKey === undefined ? null : <NewKeyView {...newKey} />}
        <CreationForm action={API_KEYS_PATH} accountId={accountId} currency={this.config.currency} {...creation} />
        <section>
          <h2>Your keys</h2>
          <BudgetWarnings keys={keys} budgets={budgets} />
          {all.length === 0 ? null : <FilterForm path={API_KEYS_PATH} fields={filterFields(filter)} />}
          <KeyTable
            keys={keys}
            empty={all.length === 0 ? 'No keys yet.' : 'No key matches.'}
            now={now}
            spend={spend}
            budgets={budgets}
            usageOf={(id) => `${USAGE_PATH}?days=30&key=${id}`}
            actionsOn={(id) => [
              { label: 'Edit', path: `${API_KEYS_PATH}/${id}/edit` },
              { label: 'Rotate', path: `${API_KEYS_PATH}/${id}/rotate` },
              { label: 'Revoke', path: `${API_KEYS_PATH}/${id}/revoke` },
            ]}
          />
          <Pagination path={API_KEYS_PATH} filter={{ ...filter }} paging={paging} />
        </section>
      </>
    );
    return {
      ...{ title: 'API keys', section: 'api-keys', width: 'wide' },
      ...{ style: 'usage.css', script: 'api-keys.js', content },
    };
  }

  /** The properties to show a new key with, in the answer to the request that created the key. */
  newKey(created: CreatedApiKey, request: Request, replaced?: ReplacedKey): NewKey {
    const model = this.models.all()[0]?.id;
    const origin = publicOriginOf(request);
    const { compatibleApis } = this.config;
    const snippets = model === undefined ? [] : sdkSnippets(origin, created.key, model);
    return {
      created,
      origin,
      model,
      sdkSnippets: snippets.filter(({ api }) => compatibleApis.includes(api)),
      replaced,
    };
  }
}

interface CreationFormProps extends EnteredKey {
  readonly action: string;
  /** The account that is signed in. */
  readonly accountId: string;
  readonly currency: string;
}

/** The form that creates a key. */
export function CreationForm({ action, accountId, currency, form = {}, lifetime, problems }: CreationFormProps) {
  return (
    <PageForm
      action={action}
      heading="Create a key"
      layout="wide"
      accountId={accountId}
      fields={[
        nameField(form),
        { label: 'Expires', name: 'expires_in_days', type: 'select', options: LIFETIMES, value: lifetime ?? 'never' },
        // The id of the new key. If a browser sends the form twice, the service still creates one key.
        { type: 'hidden', name: 'id', value: randomUUID() },
      ]}
      more={{ summary: 'Models, limits and budget', fields: limitFields(form, currency) }}
      button="Create key"
      once
      problems={problems}
    />
  );
}

function filterFields({ search = '', state }: KeyFilter): readonly FormField[] {
  return [
    { label: 'Search', name: 'search', type: 'search', value: search, maxLength: 100, placeholder: 'name or key' },
    stateField(KEY_STATES, state),
  ];
}
