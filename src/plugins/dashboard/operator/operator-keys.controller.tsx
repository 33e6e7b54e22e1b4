import { Body, Get, Inject, Param } from '@nestjs/common';
import {
  AccountsService,
  type ListedOperatorKey,
  OperatorKeys,
  type OperatorScope,
  OperatorTree,
} from '../../../plugin-api/core/accounts.js';
import { type Clock, CLOCK } from '../../../plugin-api/core/common.js';
import { expiryOf, LIFETIMES } from '../api-keys/key-form.js';
import { KeyStateBadge, stateOf } from '../api-keys/key-table.js';
import type { FormProblems } from '../forms/form-problems.js';
import { PageForm } from '../forms/page-form.js';
import { CurrentPageRequest, PageController, PostForm, type PageRequest } from '../page-controller.decorator.js';
import { LocalTime } from '../numbers-and-times.js';
import type { Page } from '../layout/layout.js';
import { Pages } from '../pages.js';
import { Notice } from '../parts/blocks.js';
import { actionPage } from '../parts/action-pages.js';
import { OlderLinks, PAGE_SIZE, positionIn } from '../parts/lists.js';
import { type QueryValues, OPERATOR_KEYS_PATH } from '../paths.js';
import { Table } from '../parts/table.js';
import { cascadeFields, cascadeIn, GrantedAccessTree, type CascadeForm } from './granted-access.js';
import { OperatorActions, OperatorOnly } from './operator-actions.js';

/** What a key may do, by its scope. */
const SCOPES: Readonly<Record<OperatorScope, string>> = { read: 'Read', write: 'Read and change' };

const DONE: ReadonlyMap<unknown, string> = new Map([['revoked', 'The key was revoked.']]);

interface NewKeyForm {
  readonly name?: string;
  readonly scope?: string;
  readonly expires_in_days?: string;
}

/** What the page shows in addition to the keys. */
interface Shown {
  readonly query?: QueryValues;
  readonly form?: NewKeyForm;
  readonly problems?: FormProblems;
}

/** The page on which operators create and revoke the keys of the API for operators. */
@PageController(OPERATOR_KEYS_PATH)
@OperatorOnly()
export class OperatorKeysPageController {
  constructor(
    private readonly pages: Pages,
    private readonly keys: OperatorKeys,
    private readonly accounts: AccountsService,
    private readonly tree: OperatorTree,
    private readonly actions: OperatorActions,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  @Get()
  async show(@CurrentPageRequest() { accountId, query, response }: PageRequest): Promise<void> {
    this.pages.send(response, await this.page(accountId, { query }));
  }

  /** Creates the key, and answers with a page that shows it. */
  @PostForm()
  async create(@Body() form: NewKeyForm, @CurrentPageRequest() request: PageRequest): Promise<void> {
    const { name = '', scope = 'read', expires_in_days: days } = form;
    await this.pages.submit(
      request.response,
      async () => {
        const expiresAt = expiryOf(days, this.now());
        const { id, key } = await this.keys.create({ name, scope, expiresAt }, request.author);
        this.actions.showOnce(request, {
          msg: 'An operator key was created',
          subject: { operatorKeyId: id },
          title: 'New operator key',
          heading: 'New operator key',
          what: 'key',
          name,
          secret: key,
          advice: 'Whoever has the key has its access to all accounts.',
          next: OPERATOR_KEYS_PATH,
        });
      },
      (problems) => this.page(request.accountId, { form, problems }),
    );
  }

  @Get(':id/revoke')
  async confirmRevocation(
    @Param('id') id: string,
    @CurrentPageRequest() { accountId, author, response }: PageRequest,
  ): Promise<void> {
    const key = await this.keys.find(id);
    if (key.revokedAt !== null) {
      this.pages.redirect(response, `${OPERATOR_KEYS_PATH}?done=revoked`);
      return;
    }
    const granted = await this.tree.of(id, author);
    const page = actionPage({
      title: `Revoke ${key.name}`,
      section: 'accounts',
      heading: `Revoke “${key.name}”?`,
      text: "Programs that use this key lose access at once. This can't be undone.",
      facts: [
        ['Key', `${key.prefix}…`],
        ['Access', SCOPES[key.scope]],
      ],
      more: <GrantedAccessTree granted={granted} root={id} />,
      fields: cascadeFields(granted),
      action: `${OPERATOR_KEYS_PATH}/${id}/revoke`,
      accountId,
      button: 'Revoke',
      tone: 'danger',
      cancel: OPERATOR_KEYS_PATH,
    });
    this.pages.send(response, page);
  }

  @PostForm(':id/revoke')
  async revoke(
    @Param('id') id: string,
    @Body() form: CascadeForm,
    @CurrentPageRequest() request: PageRequest,
  ): Promise<void> {
    await this.keys.revoke(id, request.author, cascadeIn(form));
    const next = `${OPERATOR_KEYS_PATH}?done=revoked`;
    this.actions.done(request, 'An operator key was revoked', { operatorKeyId: id }, next);
  }

  private async page(operatorId: string, { query = {}, form = {}, problems }: Shown): Promise<Page> {
    const before = positionIn(query);
    const { rows, next } = await this.keys.page(before, PAGE_SIZE);
    const makers = await this.makersOf(rows);
    const { name, scope = 'read', expires_in_days: days = '90' } = form;
    const content = (
      <>
        <h1>Operator keys</h1>
        <p class="lead">
          Programs use these keys for the API below <code>/api/v1/admin</code>: they read and manage all accounts. An
          operator key belongs to no account.
        </p>
        <Notice tone="good">{DONE.get(query['done'])}</Notice>
        <PageForm
          heading="Create a key"
          action={OPERATOR_KEYS_PATH}
          layout="wide"
          accountId={operatorId}
          fields={[
            { label: 'Name', name: 'name', type: 'text', value: name, maxLength: 100, autoComplete: 'off' },
            { label: 'Access', name: 'scope', type: 'select', options: SCOPES, value: scope },
            { label: 'Expires after', name: 'expires_in_days', type: 'select', options: LIFETIMES, value: days },
          ]}
          button="Create key"
          problems={problems}
        />
        <section>
          <h2>All operator keys</h2>
          <KeyTable keys={rows} makers={makers} now={this.now()} />
          <OlderLinks path={OPERATOR_KEYS_PATH} before={before} next={next} />
        </section>
      </>
    );
    return { title: 'Operator keys', section: 'accounts', width: 'wide', content };
  }

  /** Returns who has made the keys, by id: the address of an operator, or the name of a key. */
  private async makersOf(keys: readonly ListedOperatorKey[]): Promise<ReadonlyMap<string, string>> {
    const ids = [...new Set(keys.flatMap(({ createdBy }) => createdBy ?? []))];
    return new Map([...(await this.accounts.emailsOf(ids)), ...(await this.keys.namesOf(ids))]);
  }
}

interface KeyTableProps {
  readonly keys: readonly ListedOperatorKey[];
  readonly makers: ReadonlyMap<string, string>;
  readonly now: number;
}

function KeyTable({ keys, makers, now }: KeyTableProps) {
  const revokePath = (id: string) => `${OPERATOR_KEYS_PATH}/${id}/revoke`;
  return (
    <Table
      caption="Operator keys, latest first"
      isCards
      rows={keys}
      empty="No keys yet."
      isEnded={(key) => stateOf(key, now) !== 'active'}
      columns={[
        { title: 'Name', cell: ({ name }) => name },
        { title: 'Key', cell: ({ prefix }) => <code>{prefix}…</code> },
        { title: 'Access', cell: ({ scope }) => SCOPES[scope] },
        { title: 'Made by', cell: ({ createdBy }) => makerName(createdBy, makers) },
        { title: 'Created', cell: ({ createdAt }) => <LocalTime at={createdAt} /> },
        { title: 'Last used', cell: ({ lastUsedAt }) => <LocalTime at={lastUsedAt} /> },
        { title: 'Expires', cell: ({ expiresAt }) => <LocalTime at={expiresAt} /> },
        { title: 'State', cell: (key) => <KeyStateBadge apiKey={key} now={now} /> },
      ]}
      actions={{
        headId: ({ id }) => `operator-key-${id}`,
        of: ({ id, revokedAt }) => (revokedAt === null ? [{ label: 'Revoke', path: revokePath(id) }] : []),
      }}
    />
  );
}

function makerName(id: string | null, makers: ReadonlyMap<string, string>): string {
  if (id === null) return '—';
  return makers.get(id) ?? 'a deleted account';
}
