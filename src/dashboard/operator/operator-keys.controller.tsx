import { Body, Get, Inject, Param } from '@nestjs/common';
import type { OperatorScope } from '../../accounts/operator-keys/operator-key.entity.js';
import { OperatorKeys, type ListedOperatorKey } from '../../accounts/operator-keys/operator-keys.service.js';
import { CLOCK, type Clock } from '../../common/clock.js';
import { expiryOf, LIFETIMES } from '../api-keys/lifetimes.js';
import { KeyStateBadge, stateOf } from '../api-keys/listed-keys.js';
import type { FormProblems } from '../forms/form-problems.js';
import { PageForm } from '../forms/page-form.js';
import { PostForm } from '../forms/post-form.decorator.js';
import { Moment } from '../format/times.js';
import type { Page } from '../page.js';
import { PageController } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { Notice } from '../parts/blocks.js';
import { OlderLinks, PAGE_SIZE, positionIn } from '../parts/lists.js';
import type { QueryValues } from '../parts/query.js';
import { shownOncePage } from '../parts/shown-once.js';
import { Table } from '../parts/table.js';
import { OPERATOR_KEYS_PATH } from '../paths.js';
import { CurrentVisit, type Visit } from '../visit.decorator.js';
import { OperatorLog } from './operator-log.js';
import { OperatorOnly } from './operator-only.decorator.js';

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
    private readonly log: OperatorLog,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  @Get()
  async show(@CurrentVisit() { accountId, query, response }: Visit): Promise<void> {
    this.pages.send(response, await this.page(accountId, { query }));
  }

  /** Creates the key, and answers with a page that shows it. No later request can read the key again. */
  @PostForm()
  async create(
    @Body() form: NewKeyForm,
    @CurrentVisit() { accountId: operatorId, author, response }: Visit,
  ): Promise<void> {
    const { name = '', scope = 'read', expires_in_days: days } = form;
    await this.pages.submit(
      response,
      async () => {
        const expiresAt = expiryOf(days, this.now());
        const { id, key } = await this.keys.create({ name, scope, expiresAt }, author);
        this.log.write('An operator key was created', { operatorId, operatorKeyId: id });
        const page = shownOncePage({
          title: 'New operator key',
          heading: 'New operator key',
          what: 'key',
          name,
          secret: key,
          advice: 'Whoever has the key has its access to all accounts.',
          next: OPERATOR_KEYS_PATH,
        });
        this.pages.send(response, page, 201);
      },
      (problems) => this.page(operatorId, { form, problems }),
    );
  }

  @PostForm(':id/revoke')
  async revoke(
    @Param('id') id: string,
    @CurrentVisit() { accountId: operatorId, author, response }: Visit,
  ): Promise<void> {
    await this.keys.revoke(id, author);
    this.log.write('An operator key was revoked', { operatorId, operatorKeyId: id });
    this.pages.leadTo(response, `${OPERATOR_KEYS_PATH}?done=revoked`);
  }

  private async page(operatorId: string, { query = {}, form = {}, problems }: Shown): Promise<Page> {
    const before = positionIn(query);
    const { rows, next } = await this.keys.page(before, PAGE_SIZE);
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
          <KeyTable operatorId={operatorId} keys={rows} now={this.now()} />
          <OlderLinks path={OPERATOR_KEYS_PATH} before={before} next={next} />
        </section>
      </>
    );
    return { title: 'Operator keys', section: 'accounts', width: 'wide', content };
  }
}

interface KeyTableProps {
  readonly operatorId: string;
  readonly keys: readonly ListedOperatorKey[];
  readonly now: number;
}

function KeyTable({ operatorId, keys, now }: KeyTableProps) {
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
        { title: 'Created', cell: ({ createdAt }) => <Moment at={createdAt} /> },
        { title: 'Last used', cell: ({ lastUsedAt }) => <Moment at={lastUsedAt} /> },
        { title: 'Expires', cell: ({ expiresAt }) => <Moment at={expiresAt} /> },
        { title: 'State', cell: (key) => <KeyStateBadge apiKey={key} now={now} /> },
      ]}
      actions={{
        headId: ({ id }) => `operator-key-${id}`,
        of: ({ id, revokedAt }) =>
          revokedAt === null ? [{ label: 'Revoke', path: revokePath(id), accountId: operatorId }] : [],
      }}
    />
  );
}
