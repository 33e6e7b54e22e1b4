import { Body, Delete, Get, Param, Patch, Post, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import { AccountDirectory } from '../../../../accounts/accounts/account-directory.js';
import { AccountRoles } from '../../../../accounts/accounts/account-roles.js';
import { AccountStates } from '../../../../accounts/accounts/account-states.js';
import { AccountsService } from '../../../../accounts/accounts/accounts.service.js';
import type { ChangeAuthor } from '../../../../accounts/audit/audit-log.js';
import type { VerifiedOperatorKey } from '../../../../accounts/operator-keys/operator-key-verifier.js';
import { CurrentOperator } from '../../../../auth/operators/operator-access.js';
import { Author } from '../../../../auth/session/request-session.js';
import { SpendBudgets } from '../../../../usage/budgets/spend-budgets.js';
import { wireBudget } from '../../../../usage/reports/report-json.js';
import { ReportSemaphore } from '../../../../usage/reports/report-semaphore.js';
import { AdminController, ListRoute, OperationRoute } from '../shared/operation.decorator.js';
import { Creations } from '../shared/creations.js';
import {
  limitIn,
  oneOf,
  pageByPosition,
  parametersIn,
  positionIn,
  type ListPage,
  type QueryValues,
} from '../shared/list-query.js';
import { madeIn, madeInQuery, MadeParameters } from '../shared/made.js';
import {
  AccountChangesBody,
  AccountDto,
  AccountPageDto,
  AccountWithBudgetDto,
  NewAccountBody,
  wireAccount,
} from './account.dto.js';
import { accountIdOf } from '../../../../accounts/account/account.entity.js';

const FILTERS = {
  email: 'The whole address. The list then has at most one account.',
  search: 'A part of the address, or a whole id.',
  state: '`active` or `disabled`.',
  tier: 'The name of a tier.',
} as const;

/** Accounts: their tier, their role and whether they are disabled. */
@AdminController('admin/accounts')
export class AccountsController {
  constructor(
    private readonly accounts: AccountsService,
    private readonly states: AccountStates,
    private readonly roles: AccountRoles,
    private readonly directory: AccountDirectory,
    private readonly semaphore: ReportSemaphore,
    private readonly budgets: SpendBudgets,
    private readonly creations: Creations,
  ) {}

  @Get()
  @ListRoute({
    operationId: 'listAccounts',
    summary: 'Lists the accounts, newest first',
    type: AccountPageDto,
    filters: FILTERS,
  })
  async list(
    @Query() query: QueryValues,
    @CurrentOperator() { id }: VerifiedOperatorKey,
  ): Promise<ListPage<AccountDto>> {
    const { email, search, state, tier, limit, cursor } = parametersIn(query, FILTERS);
    const filter = { email, search, state: oneOf(state, 'state', ['active', 'disabled']), tier };
    const [position, most] = [positionIn(cursor), limitIn(limit)];
    const { accounts, next } = await this.semaphore.run(id, () => this.directory.page(filter, position, most));
    return pageByPosition(accounts.map(wireAccount), next);
  }

  @Get(':account_id')
  @OperationRoute({
    operationId: 'getAccount',
    summary: 'Returns an account, with what is left of its budget',
    type: AccountWithBudgetDto,
    errors: ['not_found'],
  })
  async get(@Param('account_id') accountId: string): Promise<AccountWithBudgetDto> {
    const account = await this.accounts.get({ id: accountIdOf(accountId) });
    const budget = await this.budgets.stateOfAccount(account.id, this.accounts.tierOf(account));
    return Object.assign(wireAccount(account), { budget: budget === undefined ? null : wireBudget(budget) });
  }

  @Post()
  @OperationRoute({
    operationId: 'createAccount',
    summary: 'Creates an account',
    status: 201,
    type: AccountDto,
    errors: ['invalid_request', 'forbidden'],
    idempotent: true,
  })
  async create(
    @Body() { email, password, tier }: NewAccountBody,
    @Author() author: ChangeAuthor,
    @Req() request: Request,
  ): Promise<AccountDto> {
    return this.creations.run(request, {
      find: async (id) => {
        const known = await this.accounts.findById(id);
        return known && wireAccount(known);
      },
      create: async (id) => wireAccount(await this.accounts.create({ id, email, password, tier }, { author })),
    });
  }

  @Patch(':account_id')
  @OperationRoute({
    operationId: 'updateAccount',
    summary: 'Changes the tier or the role of an account, disables or enables it',
    description:
      'A missing member stays as it is. Every replica applies the change within two seconds. An operator that is disabled or becomes ' +
      'a member loses what it has made, see `keep_made`.',
    type: AccountDto,
    errors: ['invalid_request', 'forbidden', 'not_found'],
  })
  async update(
    @Param('account_id') accountId: string,
    @Body() { tier, role, disabled, ...rest }: AccountChangesBody,
    @Author() author: ChangeAuthor,
  ): Promise<AccountDto> {
    const reference = { id: accountIdOf(accountId) };
    // First what can be refused.
    if (tier !== undefined) await this.accounts.setTier(reference, tier, author);
    const made = madeIn(rest);
    if (role !== undefined) await this.roles.set(reference, role, author, made);
    if (disabled === true) await this.states.disable(reference, author, made);
    if (disabled === false) await this.states.enable(reference, author);
    return wireAccount(await this.accounts.get(reference));
  }

  @Delete(':account_id')
  @OperationRoute({
    operationId: 'deleteAccount',
    summary: 'Deletes an account with its API keys and sessions',
    description: 'It cannot be undone. The usage records stay. An operator loses what it has made, see `keep_made`.',
    status: 204,
    errors: ['invalid_request', 'forbidden', 'not_found'],
  })
  @MadeParameters()
  async delete(
    @Param('account_id') accountId: string,
    @Query() query: QueryValues,
    @Author() author: ChangeAuthor,
  ): Promise<void> {
    await this.states.delete({ id: accountIdOf(accountId) }, author, madeInQuery(query));
  }
}
