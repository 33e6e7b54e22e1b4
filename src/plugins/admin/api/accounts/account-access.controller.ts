import { Body, Delete, Param, Post, Put, Req } from '@nestjs/common';
import type { Request } from 'express';
import { AccountsService } from '../../../../accounts/accounts/accounts.service.js';
import type { ChangeAuthor } from '../../../../accounts/audit/audit-log.js';
import { AccountPreparation } from '../../../../accounts/identities/identities.service.js';
import { PasswordResets } from '../../../../accounts/links/password-resets.service.js';
import type { VerifiedOperatorKey } from '../../../../accounts/operator-keys/operator-key-verifier.js';
import { SessionsService } from '../../../../accounts/sessions/sessions.service.js';
import { CurrentOperator } from '../../../../auth/operators/operator-access.js';
import { Author } from '../../../../auth/session/request-session.js';
import { RESET_PATH } from '../../../dashboard/paths.js';
import { Pages } from '../../../dashboard/pages.js';
import { OnlyIf } from '../../../../platform/http/routing/only-if.decorator.js';
import { AdminController, OperationRoute } from '../shared/operation.decorator.js';
import { EndedSessionsDto, LinkDto, NewPasswordBody, RevokedKeysDto, SignInResetBody } from './account.dto.js';
import { accountIdOf } from '../../../../accounts/account/account.entity.js';

const WithPasswords = (): MethodDecorator => OnlyIf(({ passwords }) => passwords === 'on');

/** How the owner of an account signs in. */
@AdminController('admin/accounts/:account_id')
export class AccountAccessController {
  constructor(
    private readonly accounts: AccountsService,
    private readonly resets: PasswordResets,
    private readonly preparation: AccountPreparation,
    private readonly sessions: SessionsService,
    private readonly pages: Pages,
  ) {}

  @Put('password')
  @WithPasswords()
  @OperationRoute({
    operationId: 'setPassword',
    summary: 'Sets the password of an account, and ends its sessions',
    type: RevokedKeysDto,
    errors: ['invalid_request', 'forbidden', 'not_found'],
  })
  async setPassword(
    @Param('account_id') accountId: string,
    @Body() { password, revoke_keys: revokeKeys }: NewPasswordBody,
    @Author() author: ChangeAuthor,
  ): Promise<RevokedKeysDto> {
    const reference = { id: accountIdOf(accountId) };
    const { revokedKeys } = await this.accounts.setPassword(reference, password, { revokeKeys, author });
    return { revoked_keys: revokedKeys };
  }

  @Post('password-reset')
  @WithPasswords()
  @OperationRoute({
    operationId: 'createPasswordReset',
    summary: 'Creates a one-time link with which the user chooses a new password',
    description: 'The link is valid for 24 hours, and replaces an earlier link of the account.',
    status: 201,
    type: LinkDto,
    errors: ['forbidden', 'not_found'],
  })
  async createReset(
    @Param('account_id') accountId: string,
    @CurrentOperator() operator: VerifiedOperatorKey,
    @Author() author: ChangeAuthor,
    @Req() request: Request,
  ): Promise<LinkDto> {
    const { id } = await this.accounts.get({ id: accountIdOf(accountId) });
    const { token, expiresAt } = await this.resets.create(id, operator.id, author);
    return { link: `${this.pages.originOf(request)}${RESET_PATH}/${token}`, expires_at: expiresAt.toISOString() };
  }

  @Delete('password-reset')
  @WithPasswords()
  @OperationRoute({
    operationId: 'revokePasswordReset',
    summary: 'Revokes the link for a new password, if the account has one',
    status: 204,
    errors: ['forbidden', 'not_found'],
  })
  async revokeReset(@Param('account_id') accountId: string, @Author() author: ChangeAuthor): Promise<void> {
    const { id } = await this.accounts.get({ id: accountIdOf(accountId) });
    await this.resets.revoke(id, author);
  }

  @Post('single-sign-on')
  @OnlyIf(({ singleSignOn }) => singleSignOn !== undefined)
  @OperationRoute({
    operationId: 'prepareSingleSignOn',
    summary: 'Gives an account to the next person with its address by single sign-on',
    description: 'Removes the password and the identities of the account, and ends its sessions.',
    type: RevokedKeysDto,
    errors: ['invalid_request', 'forbidden', 'not_found'],
  })
  async prepareSingleSignOn(
    @Param('account_id') accountId: string,
    @Body() { revoke_keys: revokeKeys }: SignInResetBody,
    @Author() author: ChangeAuthor,
  ): Promise<RevokedKeysDto> {
    const { revokedKeys } = await this.preparation.prepare({ id: accountIdOf(accountId) }, revokeKeys, author);
    return { revoked_keys: revokedKeys };
  }

  @Delete('sessions')
  @OperationRoute({
    operationId: 'endSessions',
    summary: 'Ends all sessions of an account',
    type: EndedSessionsDto,
    errors: ['forbidden', 'not_found'],
  })
  async endSessions(@Param('account_id') accountId: string, @Author() author: ChangeAuthor): Promise<EndedSessionsDto> {
    const { id } = await this.accounts.get({ id: accountIdOf(accountId) });
    return { ended: await this.sessions.endAllOf(id, author) };
  }
}
