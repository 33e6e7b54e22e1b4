import { Get, Inject } from '@nestjs/common';
import { AccountDirectory, type Invitation, Invitations } from '../../../plugin-api/core/accounts.js';
import { type Config, CONFIG, MICROS, type TierConfig } from '../../../plugin-api/core/config.js';
import { RateLimited } from '../../../plugin-api/core/throttling.js';
import { ReportSemaphore } from '../../../plugin-api/core/usage.js';
import type { FormField } from '../forms/page-form.js';
import { count, countOf, limitsOf, money, LocalTime } from '../numbers-and-times.js';
import { optionalPart, Pages } from '../pages.js';
import { CurrentPageRequest, PageController, type PageRequest } from '../page-controller.decorator.js';
import { choiceField, FilterForm, OlderLinks, positionIn, stateField } from '../parts/lists.js';
import { Notice, Section } from '../parts/blocks.js';
import { Table } from '../parts/table.js';
import { accountPath, ACCOUNTS_PATH, INVITATIONS_PATH, OPERATOR_KEYS_PATH, pathWith } from '../paths.js';
import { SignNotes, Figures, cost, type UsageSum } from '../usage/usage-sum.js';
import {
  AccountList,
  AccountTable,
  sumsOf,
  accountFilterIn,
  ACCOUNT_STATES,
  ROLES,
  type AccountListFilter,
  type NamedOverview,
  AccountName,
} from './account-list.js';
import { OperatorOnly } from './operator-actions.js';

interface SpendSectionProps {
  readonly overview: NamedOverview | undefined;
  readonly hasPrices: boolean;
}

/** The sums that the section shows. */
function overviewSums(overview: NamedOverview | undefined): readonly UsageSum[] {
  if (overview === undefined) return [];
  return [overview.today, overview.last30Days, ...overview.highest.map(({ sum }) => sum)];
}

/** What all accounts together have spent, and the accounts that have spent most. */
function SpendSection({ overview, hasPrices }: SpendSectionProps) {
  return (
    <Section id="spend" title="Spend of all accounts">
      {overview === undefined ? (
        <Notice>The spend is not available yet. Reload the page in a moment.</Notice>
      ) : (
        <Spend overview={overview} hasPrices={hasPrices} />
      )}
    </Section>
  );
}

function Spend({ overview, hasPrices }: SpendSectionProps & { readonly overview: NamedOverview }) {
  const { at, today, last30Days, highest, emails } = overview;
  const withCost = hasPrices || last30Days.costs.size > 0;
  return (
    <>
      <Figures
        figures={[
          ['Today', today],
          ['Last 30 days', last30Days],
        ]}
        withCost={withCost}
      />
      {highest.length === 0 ? null : (
        <Table
          caption={withCost ? 'Highest spend, last 30 days' : 'Most requests, last 30 days'}
          showsCaption
          rows={highest}
          columns={[
            { title: 'Account', cell: ({ accountId }) => <AccountName id={accountId} emails={emails} /> },
            { title: 'Requests', isNumber: true, cell: ({ sum }) => count(sum.requests) },
            withCost && { title: 'Cost', isNumber: true, cell: ({ sum }) => cost(sum) },
          ]}
        />
      )}
      <p class="fine">
        As of <LocalTime at={at} />. Updated once a minute. Days begin at midnight UTC. Deleted accounts are included.
      </p>
    </>
  );
}

interface TierTableProps {
  readonly tiers: readonly TierConfig[];
  readonly defaultTier: TierConfig;
  readonly countByTier: ReadonlyMap<string, number>;
  /** Of the budgets. */
  readonly currency: string;
}

interface TierRow {
  readonly name: string;
  readonly tier: TierConfig;
  readonly remark: string | undefined;
}

/** The tiers of the configuration with their limits and their accounts, and the tiers of accounts that it no longer has. */
function TierTable({ tiers, defaultTier, countByTier, currency }: TierTableProps) {
  const gone = [...countByTier.keys()].filter((name) => !tiers.some((tier) => tier.name === name));
  const rows: readonly TierRow[] = [
    ...tiers.map((tier) => ({
      name: tier.name,
      tier,
      remark: tier.name === defaultTier.name ? 'default' : undefined,
    })),
    ...gone.map((name) => ({
      name,
      tier: defaultTier,
      remark: 'not configured: the default tier applies',
    })),
  ];
  const nameOf = ({ name, remark }: TierRow) => (
    <>
      {name} {remark === undefined ? null : <small>{remark}</small>}
    </>
  );
  const budgetOf = ({ tier: { budget } }: TierRow) =>
    budget === undefined ? 'No budget' : `${money(budget.micros / MICROS, currency)} per ${budget.per}`;
  const accountsOf = ({ name }: TierRow) => {
    const accounts = countByTier.get(name) ?? 0;
    return accounts === 0 ? '0' : <a href={pathWith(ACCOUNTS_PATH, { tier: name })}>{count(accounts)}</a>;
  };
  return (
    <Section id="tiers" title="Tiers">
      <Table
        caption="Tiers"
        rows={rows}
        columns={[
          { title: 'Tier', cell: nameOf },
          ...limitsOf(defaultTier).map(([title], index) => ({
            title,
            isNumber: true,
            cell: ({ tier }: TierRow) => limitsOf(tier)[index]?.[1],
          })),
          { title: 'Budget', isNumber: true, cell: budgetOf },
          { title: 'Accounts', isNumber: true, cell: accountsOf },
        ]}
      />
      <p class="fine">Tiers and their limits are set in CONFIG_FILE.</p>
    </Section>
  );
}

/** What the page reports right after a change. */
const DONE: ReadonlyMap<unknown, string> = new Map([
  ['deleted', 'The account was deleted.'],
  ['invitation-revoked', 'The invitation was revoked.'],
]);
/** The number of invitations that the page shows without a click. */
const SHOWN_INVITATIONS = 10;

/** The page of an operator with all accounts, their spend, the open invitations, and the tiers. */
@PageController(ACCOUNTS_PATH)
@RateLimited('pages')
@OperatorOnly()
export class AccountsController {
  constructor(
    private readonly pages: Pages,
    private readonly directory: AccountDirectory,
    private readonly list: AccountList,
    private readonly invitations: Invitations,
    private readonly semaphore: ReportSemaphore,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  @Get()
  async show(@CurrentPageRequest() { accountId: operatorId, query, response }: PageRequest): Promise<void> {
    const filter = accountFilterIn(query);
    const after = positionIn(query);
    const [page, overview, countByTier, invitations] = await this.semaphore.run(operatorId, () =>
      Promise.all([
        this.list.page(filter, after),
        this.list.overview(),
        this.directory.countByTier(),
        optionalPart(this.invitations.list()),
      ]),
    );
    const { accounts, next, spend, budgets } = page;
    const { tiers, defaultTier, models, currency } = this.config;
    const hasPrices = models.some(({ price }) => price !== undefined);
    const accountCount = [...countByTier.values()].reduce((sum, each) => sum + each, 0);
    const isEveryAccount = Object.values(filter).every((value) => value === undefined);
    const content = (
      <div class="usage">
        <h1>Accounts</h1>
        <Notice tone="good">{DONE.get(query['done'])}</Notice>
        <p class="actions">
          {this.pages.hasPasswords ? (
            <a href={`${INVITATIONS_PATH}/new`} role="button">
              Invite
            </a>
          ) : null}
          <a href={accountPath('new')}>New account</a>
          <a href={OPERATOR_KEYS_PATH}>Operator keys</a>
        </p>
        <SpendSection overview={overview} hasPrices={hasPrices} />
        <Section id="accounts" title="All accounts">
          <FilterForm path={ACCOUNTS_PATH} fields={filterFields(filter, countByTier.keys())} />
          <p class="fine">{isEveryAccount ? `${countOf(accountCount, 'account')}, newest first.` : 'Newest first.'}</p>
          <AccountTable
            operatorId={operatorId}
            accounts={accounts}
            empty={
              next === undefined ? 'No account matches.' : 'None of the newest accounts match. Look at older accounts.'
            }
            spend={spend}
            budgets={budgets}
            hasPrices={hasPrices}
          />
          <OlderLinks path={ACCOUNTS_PATH} filter={{ ...filter }} before={after} next={next} />
        </Section>
        <InvitationsSection operatorId={operatorId} invitations={invitations ?? []} />
        <TierTable
          tiers={[...tiers.values()]}
          defaultTier={defaultTier}
          countByTier={countByTier}
          currency={currency}
        />
        <SignNotes sums={[...overviewSums(overview), ...sumsOf(spend)]} withCost={hasPrices} />
      </div>
    );
    this.pages.send(response, { title: 'Accounts', section: 'accounts', width: 'wide', style: 'usage.css', content });
  }
}

function filterFields({ search, state, tier }: AccountListFilter, tiers: Iterable<string>): readonly FormField[] {
  const searched = { label: 'Search', name: 'search', value: search ?? '', maxLength: 254 } as const;
  return [
    { ...searched, type: 'search', placeholder: 'email or account ID' },
    stateField(ACCOUNT_STATES, state),
    choiceField({ label: 'Tier', name: 'tier', all: 'All tiers', value: tier }, tiers),
  ];
}

interface InvitationsSectionProps {
  readonly operatorId: string;
  readonly invitations: readonly Invitation[];
}

/** The open invitations, with a button that revokes each. Shows nothing if there are none. */
function InvitationsSection({ operatorId, invitations }: InvitationsSectionProps) {
  if (invitations.length === 0) return null;
  return (
    <Section id="invitations" title="Open invitations">
      <details open={invitations.length <= SHOWN_INVITATIONS}>
        <summary>{countOf(invitations.length, 'invitation')}</summary>
        <Table
          caption="Open invitations"
          isCards
          rows={invitations}
          columns={[
            { title: 'Email', cell: ({ email }) => email },
            { title: 'Tier', cell: ({ tier }) => tier },
            { title: 'Role', cell: ({ role }) => ROLES[role] },
            { title: 'Created', cell: ({ createdAt }) => <LocalTime at={createdAt} /> },
            { title: 'Expires', cell: ({ expiresAt }) => <LocalTime at={expiresAt} /> },
          ]}
          actions={{
            headId: ({ id }) => `invitation-${id}`,
            of: ({ id }) => [{ label: 'Revoke', path: `${INVITATIONS_PATH}/${id}/revoke`, accountId: operatorId }],
          }}
        />
      </details>
    </Section>
  );
}
