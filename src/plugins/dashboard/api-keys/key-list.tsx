import { Inject, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { randomUUID } from 'node:crypto';
import { type CreatedApiKey, ApiKeysService } from '../../../plugin-api/core/accounts.js';
import { publicOriginOf } from '../../../plugin-api/core/auth.js';
import { curlLine, javascriptCode, pythonCode, type Clock, CLOCK } from '../../../plugin-api/core/common.js';
import { type Config, CONFIG } from '../../../plugin-api/core/config.js';
import { ModelCatalog } from '../../../plugin-api/core/models.js';
import { ListedBudgets } from '../../../plugin-api/core/usage.js';
import type { FormProblems } from '../forms/form-problems.js';
import { PageForm, type FormField } from '../forms/page-form.js';
import type { Page } from '../layout/layout.js';
import { optionalPart } from '../pages.js';
import { Copyable, Notice } from '../parts/blocks.js';
import { FilterForm, PAGE_SIZE, Pagination, pagingOf, stateField } from '../parts/lists.js';
import { LocalTime } from '../numbers-and-times.js';
import { API_KEYS_PATH, type QueryValues, USAGE_PATH } from '../paths.js';
import { LIFETIMES, limitFields, nameField, type KeyForm } from './key-form.js';
import {
  BudgetWarnings,
  KeySpends,
  KeyTable,
  chosenKeys,
  KEY_STATES,
  keyFilterIn,
  stateOf,
  type KeyFilter,
} from './key-table.js';

interface NewKey {
  readonly created: CreatedApiKey;
  /** The origin of the service, for the example command. */
  readonly origin: string;
  readonly model: string | undefined;
  /** The programs with SDKs. They contain the key. */
  readonly sdkSnippets: readonly SdkSnippet[];
  readonly replaced: ReplacedKey | undefined;
}

/** The old key, after a rotation. */
interface ReplacedKey {
  readonly prefix: string;
  readonly endsAt: Date;
}

/** Shows a key that was created just now. The full key is shown only once. */
function NewKeyView({ created, origin, model, sdkSnippets, replaced }: NewKey) {
  const { name, key } = created;
  const programs: readonly Program[] = model === undefined ? [] : [...programsOf(origin, key, model), ...sdkSnippets];
  return (
    <section class="new-key" data-shown-once={API_KEYS_PATH} role="status">
      <h2>Your new key “{name}”</h2>
      <p>
        <strong>Copy the key now: it is shown only once.</strong> Store it in your secret manager.
      </p>
      <Copyable what="key" text={key} id="new-key" wraps />
      {replaced === undefined ? null : (
        <p>
          The old key <code>{replaced.prefix}…</code> expires on <LocalTime at={replaced.endsAt} />.
        </p>
      )}
      {model === undefined ? null : (
        <>
          <p>Try it in a terminal:</p>
          <Copyable what="command" text={curlLine({ origin, key, request: greeting(model) })} id="try-it" />
          {programs.map(({ id, title, what = title, code }) => (
            <details key={id}>
              <summary>{title}</summary>
              <Copyable what={what} text={code} id={id} />
            </details>
          ))}
        </>
      )}
    </section>
  );
}

type Program = Pick<SdkSnippet, 'id' | 'title' | 'code'> & { readonly what?: string };

function programsOf(origin: string, key: string, model: string): readonly Program[] {
  const request = greeting(model, 2);
  const javascript = { title: 'JavaScript (Node)', what: 'JavaScript', code: javascriptCode({ origin, key, request }) };
  return [
    { id: 'try-javascript', ...javascript },
    { id: 'try-python', title: 'Python', code: pythonCode({ origin, key, request }) },
  ];
}

const greeting = (model: string, indent?: number): string =>
  JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello!' }] }, null, indent);

/** A program that calls the service with an SDK of another API. */
interface SdkSnippet {
  /** The id of the element on a page. */
  readonly id: string;
  readonly title: string;
  /** The name in `COMPATIBLE_APIS` of the interface that the SDK uses. */
  readonly api: 'chat-completions' | 'messages';
  readonly code: string;
}

/** Returns short programs for Node, each with the packages that it needs in its first line. */
function sdkSnippets(origin: string, key: string, model: string): readonly SdkSnippet[] {
  const [baseURL, withoutVersion, apiKey, id] = [`${origin}/api/v1`, `${origin}/api`, key, model].map((text) =>
    JSON.stringify(text),
  );
  return [
    {
      ...{ id: 'try-openai', title: 'OpenAI SDK', api: 'chat-completions' },
      code: `// npm install openai
import OpenAI from 'openai';

const openai = new OpenAI({ baseURL: ${baseURL}, apiKey: ${apiKey} });
const answer = await openai.chat.completions.create({
  model: ${id},
  messages: [{ role: 'user', content: 'Hello!' }],
});
console.log(answer.choices[0].message.content);
`,
    },
    {
      ...{ id: 'try-anthropic', title: 'Anthropic SDK', api: 'messages' },
      code: `// npm install @anthropic-ai/sdk
import Anthropic from '@anthropic-ai/sdk';

const anthropic = new Anthropic({ baseURL: ${withoutVersion}, apiKey: ${apiKey} });
const answer = await anthropic.messages.create({
  model: ${id},
  max_tokens: 1000,
  messages: [{ role: 'user', content: 'Hello!' }],
});
console.log(answer.content);
`,
    },
    {
      ...{ id: 'try-ai-sdk', title: 'AI SDK', api: 'chat-completions' },
      code: `// npm install ai @ai-sdk/openai-compatible
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { streamText } from 'ai';

const chat = createOpenAICompatible({ name: 'chat', baseURL: ${baseURL}, apiKey: ${apiKey}, includeUsage: true });
const answer = streamText({ model: chat(${id}), prompt: 'Hello!' });
for await (const text of answer.textStream) process.stdout.write(text);
`,
    },
  ];
}

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
