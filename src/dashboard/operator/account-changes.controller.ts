import { Get, Ip, Param, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import type { Account } from '../../accounts/account/account.entity.js';
import { AccountRoles } from '../../accounts/accounts/account-roles.js';
import { AccountStates } from '../../accounts/accounts/account-states.js';
import { AccountsService } from '../../accounts/accounts/accounts.service.js';
import type { VerifiedSession } from '../../accounts/sessions/sessions.service.js';
import { siteOf } from '../../auth/network/client-network.js';
import { CurrentSession } from '../../auth/session/request-session.js';
import { ServiceError } from '../../common/service-error.js';
import { Form } from '../../http/body/form/form.decorator.js';
import { AccountForm } from '../forms/account-form.decorator.js';
import type { FormProblems } from '../forms/form-problems.js';
import type { Page } from '../page.js';
import { PageController } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { Confirmation } from '../parts/confirmation.js';
import { accountIdOf, accountPath, ACCOUNTS_PATH, ACCOUNTS_ROUTE } from './account-path.js';
import { accountFacts } from './listed-account.js';
import { OperatorLog } from './operator-log.js';
import { OperatorOnly } from './operator-only.decorator.js';

interface PasswordForm {
  readonly password?: string;
}

/** The changes of an account that an operator has to confirm on a page of their own: role, password, deletion. */
@PageController(`${ACCOUNTS_ROUTE}/:id`)
@OperatorOnly()
export class AccountChangesController {
  constructor(
    private readonly pages: Pages,
    private readonly accounts: AccountsService,
    private readonly states: AccountStates,
    private readonly roles: AccountRoles,
    private readonly log: OperatorLog,
  ) {}

  @Get('role')
  async askForRole(
    @Param('id') id: string,
    @CurrentSession() { account: operator }: VerifiedSession,
    @Res() response: Response,
  ): Promise<void> {
    const account = await this.other(id, operator.id);
    const becomesOperator = account.role !== 'operator';
    const title = becomesOperator ? `Make ${account.email} an operator` : `Make ${account.email} a member`;
    const content = Confirmation({
      title: `${title}?`,
      children: becomesOperator
        ? 'An operator sees all accounts and their usage, and can change, disable and delete accounts.'
        : 'A member manages only its own account.',
      facts: accountFacts(account),
      action: accountPath(id, 'role'),
      fields: [{ type: 'hidden', name: 'role', value: becomesOperator ? 'operator' : 'member' }],
      accountId: operator.id,
      button: becomesOperator ? 'Make operator' : 'Make member',
      tone: 'danger',
      cancel: accountPath(id),
    });
    this.pages.send(response, { title, section: 'accounts', width: 'narrow', content });
  }

  @Post('role')
  @Form()
  async setRole(
    @Param('id') id: string,
    @AccountForm() { role = '' }: { readonly role?: string },
    @CurrentSession() { account: operator }: VerifiedSession,
    @Res() response: Response,
  ): Promise<void> {
    await this.other(id, operator.id);
    await this.roles.set({ id }, role);
    this.log.write('The role of an account was changed', { operatorId: operator.id, accountId: id, role });
    this.pages.leadTo(response, `${accountPath(id)}?done=role`);
  }

  @Get('password')
  async askForPassword(
    @Param('id') id: string,
    @CurrentSession() { account: operator }: VerifiedSession,
    @Res() response: Response,
  ): Promise<void> {
    this.pages.send(response, passwordPage(await this.other(id, operator.id), operator.id));
  }

  @Post('password')
  @Form()
  async setPassword(
    @Param('id') id: string,
    @AccountForm() { password = '' }: PasswordForm,
    @CurrentSession() { account: operator }: VerifiedSession,
    @Ip() address: string,
    @Res() response: Response,
  ): Promise<void> {
    const account = await this.other(id, operator.id);
    await this.pages.submit(
      response,
      async () => {
        await this.accounts.setPassword(account.email, password, { network: siteOf(address) });
        this.log.write('The password of an account was reset', { operatorId: operator.id, accountId: id });
        this.pages.leadTo(response, `${accountPath(id)}?done=password`);
      },
      (problems) => passwordPage(account, operator.id, problems),
    );
  }

  @Get('delete')
  async askToDelete(
    @Param('id') id: string,
    @CurrentSession() { account: operator }: VerifiedSession,
    @Res() response: Response,
  ): Promise<void> {
    const account = await this.other(id, operator.id);
    const title = `Delete ${account.email}`;
    const content = Confirmation({
      title: `${title}?`,
      children:
        'This deletes the account and its API keys, and ends its sessions and streams. It cannot be undone. The usage records stay.',
      facts: accountFacts(account),
      action: accountPath(id, 'delete'),
      accountId: operator.id,
      button: 'Delete',
      tone: 'danger',
      cancel: accountPath(id),
    });
    this.pages.send(response, { title, section: 'accounts', width: 'narrow', content });
  }

  @Post('delete')
  @Form()
  async delete(
    @Param('id') id: string,
    @AccountForm() _form: unknown,
    @CurrentSession() { account: operator }: VerifiedSession,
    @Res() response: Response,
  ): Promise<void> {
    await this.other(id, operator.id);
    await this.states.delete({ id });
    this.log.write('An account was deleted', { operatorId: operator.id, accountId: id });
    this.pages.leadTo(response, `${ACCOUNTS_PATH}?done=deleted`);
  }

  /** @throws {ServiceError} `forbidden` for the own account, which only another operator may change. */
  private async other(id: string, operatorId: string): Promise<Account> {
    if (id !== operatorId) return this.accounts.get({ id: accountIdOf(id) });
    throw new ServiceError('forbidden', "You can't change your own account here. Another operator can.");
  }
}

function passwordPage(account: Account, operatorId: string, problems?: FormProblems): Page {
  const title = `Reset the password of ${account.email}`;
  const content = Confirmation({
    title,
    children:
      'This signs the account out everywhere. Its API keys stay valid. Give the new password to the user over a safe channel.',
    facts: accountFacts(account),
    action: accountPath(account.id, 'password'),
    fields: [{ label: 'New password', name: 'password', type: 'password', autoComplete: 'new-password' }],
    accountId: operatorId,
    button: 'Reset password',
    tone: 'danger',
    cancel: accountPath(account.id),
    problems,
  });
  return { title, section: 'accounts', width: 'narrow', content };
}
