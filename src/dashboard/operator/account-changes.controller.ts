import { Get, Param, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import type { Account } from '../../accounts/account/account.entity.js';
import { AccountRoles } from '../../accounts/accounts/account-roles.js';
import { AccountStates } from '../../accounts/accounts/account-states.js';
import { AccountsService } from '../../accounts/accounts/accounts.service.js';
import { PasswordResets } from '../../accounts/links/password-resets.service.js';
import type { VerifiedSession } from '../../accounts/sessions/sessions.service.js';
import { authorOf } from '../../auth/session/change-author.decorator.js';
import { CurrentSession } from '../../auth/session/request-session.js';
import { ServiceError } from '../../common/service-error.js';
import { Form } from '../../http/body/form/form.decorator.js';
import { AccountForm } from '../forms/account-form.decorator.js';
import { RESET_PATH } from '../links/link-paths.js';
import { PageController } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { WithPasswords } from '../with-passwords.decorator.js';
import { accountConfirmation } from './account-confirmation.js';
import { accountIdOf, accountPath, ACCOUNTS_PATH, ACCOUNTS_ROUTE } from './account-path.js';
import { NewLinkView } from './links/new-link-view.js';
import { OperatorLog } from './operator-log.js';
import { OperatorOnly } from './operator-only.decorator.js';

/** The changes of an account that an operator has to confirm on a page of their own: role, password, deletion. */
@PageController(`${ACCOUNTS_ROUTE}/:id`)
@OperatorOnly()
export class AccountChangesController {
  constructor(
    private readonly pages: Pages,
    private readonly accounts: AccountsService,
    private readonly states: AccountStates,
    private readonly roles: AccountRoles,
    private readonly resets: PasswordResets,
    private readonly log: OperatorLog,
  ) {}

  @Get('role')
  async confirmRole(
    @Param('id') id: string,
    @CurrentSession() { account: operator }: VerifiedSession,
    @Res() response: Response,
  ): Promise<void> {
    const account = await this.other(id, operator.id);
    const becomesOperator = account.role !== 'operator';
    const title = becomesOperator ? `Make ${account.email} an operator` : `Make ${account.email} a member`;
    const page = accountConfirmation(operator.id, account, {
      action: 'role',
      title,
      children: becomesOperator
        ? 'An operator sees all accounts and their usage, and can change, disable and delete accounts.'
        : 'A member manages only its own account.',
      fields: [{ type: 'hidden', name: 'role', value: becomesOperator ? 'operator' : 'member' }],
      button: becomesOperator ? 'Make operator' : 'Make member',
      tone: 'danger',
    });
    this.pages.send(response, page);
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
    await this.roles.set({ id }, role, authorOf(response.req));
    this.log.write('The role of an account was changed', { operatorId: operator.id, accountId: id, role });
    this.pages.leadTo(response, `${accountPath(id)}?done=role`);
  }

  @Get('password')
  @WithPasswords()
  async confirmResetLink(
    @Param('id') id: string,
    @CurrentSession() { account: operator }: VerifiedSession,
    @Res() response: Response,
  ): Promise<void> {
    const account = await this.other(id, operator.id);
    const page = accountConfirmation(operator.id, account, {
      action: 'password',
      title: `Reset the password of ${account.email}`,
      children:
        'This creates a one-time link with which the user chooses a new password. The present password works until then. A new password signs the account out everywhere, and its API keys stay valid.',
      button: 'Create link',
    });
    this.pages.send(response, page);
  }

  /** Creates the link, and answers with a page that shows it. No later request can read the link again. */
  @Post('password')
  @Form()
  @WithPasswords()
  async createResetLink(
    @Param('id') id: string,
    @AccountForm() _form: unknown,
    @CurrentSession() { account: operator }: VerifiedSession,
    @Res() response: Response,
  ): Promise<void> {
    const account = await this.other(id, operator.id);
    const { token, expiresAt } = await this.resets.create(id, operator.id);
    this.log.write('A link for a new password was created', { operatorId: operator.id, accountId: id });
    const content = NewLinkView({
      title: `New password for ${account.email}`,
      link: `${this.pages.originOf(response.req)}${RESET_PATH}/${token}`,
      expiresAt,
      next: accountPath(id),
      children: 'Send it to the user over a safe channel: whoever has the link can take over the account.',
    });
    this.pages.send(response, { title: 'New password', section: 'accounts', script: 'shown-once.js', content }, 201);
  }

  @Post('password/revoke')
  @Form()
  @WithPasswords()
  async revokeResetLink(
    @Param('id') id: string,
    @AccountForm() _form: unknown,
    @CurrentSession() { account: operator }: VerifiedSession,
    @Res() response: Response,
  ): Promise<void> {
    await this.other(id, operator.id);
    await this.resets.revoke(id, authorOf(response.req));
    this.log.write('A link for a new password was revoked', { operatorId: operator.id, accountId: id });
    this.pages.leadTo(response, `${accountPath(id)}?done=link-revoked`);
  }

  @Get('delete')
  async confirmDelete(
    @Param('id') id: string,
    @CurrentSession() { account: operator }: VerifiedSession,
    @Res() response: Response,
  ): Promise<void> {
    const account = await this.other(id, operator.id);
    const page = accountConfirmation(operator.id, account, {
      action: 'delete',
      title: `Delete ${account.email}`,
      children:
        'This deletes the account and its API keys, and ends its sessions and streams. It cannot be undone. The usage records stay.',
      button: 'Delete',
      tone: 'danger',
    });
    this.pages.send(response, page);
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
    await this.states.delete({ id }, authorOf(response.req));
    this.log.write('An account was deleted', { operatorId: operator.id, accountId: id });
    this.pages.leadTo(response, `${ACCOUNTS_PATH}?done=deleted`);
  }

  /** @throws {ServiceError} `forbidden` for the own account, which only another operator may change. */
  private async other(id: string, operatorId: string): Promise<Account> {
    if (id !== operatorId) return this.accounts.get({ id: accountIdOf(id) });
    throw new ServiceError('forbidden', "You can't change your own account here. Another operator can.");
  }
}
