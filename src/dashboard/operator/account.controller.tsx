import { Body, Get, Param } from '@nestjs/common';
import { isUUID } from 'class-validator';
import type { Account } from '../../accounts/account/account.entity.js';
import { AccountRoles } from '../../accounts/accounts/account-roles.js';
import { AccountStates } from '../../accounts/accounts/account-states.js';
import { AccountsService } from '../../accounts/accounts/accounts.service.js';
import { ApiKeysService } from '../../accounts/api-keys/api-keys.service.js';
import { PasswordResets } from '../../accounts/links/password-resets.service.js';
import { ServiceError } from '../../common/service-error.js';
import { LimitedByBudget } from '../../throttling/budgets/limited-by-budget.decorator.js';
import { ReportSemaphore } from '../../usage/reports/report-semaphore.js';
import { revocationPage } from '../api-keys/key-pages.js';
import { PostForm } from '../forms/post-form.decorator.js';
import { PageController } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { shownOncePage } from '../parts/shown-once.js';
import { accountPath, ACCOUNTS_PATH, RESET_PATH } from '../paths.js';
import { CurrentVisit, type Visit } from '../visit.decorator.js';
import { WithPasswords } from '../with-passwords.decorator.js';
import { changeConfirmation } from './account-changes.js';
import { AccountPage } from './account-page.js';
import { LinkNote } from './link-note.js';
import { OperatorLog } from './operator-log.js';
import { OperatorOnly } from './operator-only.decorator.js';

/** What a page reports right after a change. */
const DONE: ReadonlyMap<unknown, string> = new Map([
  ['created', 'The account was created.'],
  ['tier', 'The tier was changed.'],
  ['role', 'The role was changed.'],
  ['link-revoked', 'The link for a new password was revoked.'],
  ['disabled', 'The account was disabled.'],
  ['enabled', 'The account was enabled.'],
  ['revoked', 'The key was revoked.'],
]);

/** The page of an operator about one account, and the changes of the account and its keys. */
@PageController(`${ACCOUNTS_PATH}/:id`)
@OperatorOnly()
export class OperatedAccountController {
  constructor(
    private readonly pages: Pages,
    private readonly page: AccountPage,
    private readonly accounts: AccountsService,
    private readonly states: AccountStates,
    private readonly roles: AccountRoles,
    private readonly resets: PasswordResets,
    private readonly keys: ApiKeysService,
    private readonly semaphore: ReportSemaphore,
    private readonly log: OperatorLog,
  ) {}

  @Get()
  @LimitedByBudget('pages')
  async show(
    @Param('id') id: string,
    @CurrentVisit() { accountId: operatorId, query, response }: Visit,
  ): Promise<void> {
    const account = await this.account(id);
    const done = DONE.get(query['done']);
    const page = await this.semaphore.run(operatorId, () => this.page.of(account, operatorId, query, { done }));
    this.pages.send(response, page);
  }

  @PostForm('tier')
  async changeTier(
    @Param('id') id: string,
    @Body() { tier = '' }: { readonly tier?: string },
    @CurrentVisit() { accountId: operatorId, author, response }: Visit,
  ): Promise<void> {
    const account = await this.account(id);
    await this.pages.submit(
      response,
      async () => {
        await this.accounts.setTier({ id }, tier, author);
        this.log.write('The tier of an account was changed', { operatorId, accountId: id, tier });
        this.pages.leadTo(response, `${accountPath(id)}?done=tier`);
      },
      (problems) => this.page.of(account, operatorId, {}, { problems }),
    );
  }

  @Get('role')
  async confirmRole(@Param('id') id: string, @CurrentVisit() { accountId, response }: Visit): Promise<void> {
    this.pages.send(response, changeConfirmation('role', await this.other(id, accountId), accountId));
  }

  @PostForm('role')
  async setRole(
    @Param('id') id: string,
    @Body() { role = '' }: { readonly role?: string },
    @CurrentVisit() { accountId: operatorId, author, response }: Visit,
  ): Promise<void> {
    await this.other(id, operatorId);
    await this.roles.set({ id }, role, author);
    this.log.write('The role of an account was changed', { operatorId, accountId: id, role });
    this.pages.leadTo(response, `${accountPath(id)}?done=role`);
  }

  @Get('password')
  @WithPasswords()
  async confirmResetLink(@Param('id') id: string, @CurrentVisit() { accountId, response }: Visit): Promise<void> {
    this.pages.send(response, changeConfirmation('password', await this.other(id, accountId), accountId));
  }

  /** Creates the link, and answers with a page that shows it. No later request can read the link again. */
  @PostForm('password')
  @WithPasswords()
  async createResetLink(
    @Param('id') id: string,
    @CurrentVisit() { accountId: operatorId, response }: Visit,
  ): Promise<void> {
    const account = await this.other(id, operatorId);
    const { token, expiresAt } = await this.resets.create(id, operatorId);
    this.log.write('A link for a new password was created', { operatorId, accountId: id });
    const page = shownOncePage({
      title: 'New password',
      heading: `New password for ${account.email}`,
      what: 'link',
      secret: `${this.pages.originOf(response.req)}${RESET_PATH}/${token}`,
      advice: 'Send it to the user over a safe channel: whoever has the link can take over the account.',
      note: <LinkNote expiresAt={expiresAt} />,
      next: accountPath(id),
    });
    this.pages.send(response, page, 201);
  }

  @PostForm('password/revoke')
  @WithPasswords()
  async revokeResetLink(
    @Param('id') id: string,
    @CurrentVisit() { accountId: operatorId, author, response }: Visit,
  ): Promise<void> {
    await this.other(id, operatorId);
    await this.resets.revoke(id, author);
    this.log.write('A link for a new password was revoked', { operatorId, accountId: id });
    this.pages.leadTo(response, `${accountPath(id)}?done=link-revoked`);
  }

  @Get('disable')
  async confirmDisabling(@Param('id') id: string, @CurrentVisit() { accountId, response }: Visit): Promise<void> {
    const account = await this.other(id, accountId, CANNOT_DISABLE);
    if (account.disabledAt === null) this.pages.send(response, changeConfirmation('disable', account, accountId));
    else this.pages.leadTo(response, accountPath(id));
  }

  @PostForm('disable')
  async disable(
    @Param('id') id: string,
    @CurrentVisit() { accountId: operatorId, author, response }: Visit,
  ): Promise<void> {
    await this.other(id, operatorId, CANNOT_DISABLE);
    await this.states.disable({ id }, author);
    this.log.write('An account was disabled', { operatorId, accountId: id });
    this.pages.leadTo(response, `${accountPath(id)}?done=disabled`);
  }

  @PostForm('enable')
  async enable(
    @Param('id') id: string,
    @CurrentVisit() { accountId: operatorId, author, response }: Visit,
  ): Promise<void> {
    await this.states.enable({ id: accountIdOf(id) }, author);
    this.log.write('An account was enabled', { operatorId, accountId: id });
    this.pages.leadTo(response, `${accountPath(id)}?done=enabled`);
  }

  @Get('delete')
  async confirmDelete(@Param('id') id: string, @CurrentVisit() { accountId, response }: Visit): Promise<void> {
    this.pages.send(response, changeConfirmation('delete', await this.other(id, accountId), accountId));
  }

  @PostForm('delete')
  async delete(
    @Param('id') id: string,
    @CurrentVisit() { accountId: operatorId, author, response }: Visit,
  ): Promise<void> {
    await this.other(id, operatorId);
    await this.states.delete({ id }, author);
    this.log.write('An account was deleted', { operatorId, accountId: id });
    this.pages.leadTo(response, `${ACCOUNTS_PATH}?done=deleted`);
  }

  @Get('keys/:key/revoke')
  async confirmRevocation(
    @Param('id') id: string,
    @Param('key') keyId: string,
    @CurrentVisit() { accountId: operatorId, response }: Visit,
  ): Promise<void> {
    const { email } = await this.account(id);
    const key = await this.keys.find(keyId, id);
    const path = accountPath(id);
    if (key.revokedAt !== null) this.pages.leadTo(response, `${path}?done=revoked`);
    else this.pages.send(response, revocationPage(operatorId, key, { email, path }));
  }

  @PostForm('keys/:key/revoke')
  async revoke(
    @Param('id') id: string,
    @Param('key') keyId: string,
    @CurrentVisit() { accountId: operatorId, author, response }: Visit,
  ): Promise<void> {
    await this.keys.revoke(keyId, accountIdOf(id), author);
    this.log.write('An API key was revoked', { operatorId, accountId: id, keyId });
    this.pages.leadTo(response, `${accountPath(id)}?done=revoked`);
  }

  private account(id: string): Promise<Account> {
    return this.accounts.get({ id: accountIdOf(id) });
  }

  /** @throws {ServiceError} `forbidden` for the own account, which only another operator may change. */
  private other(id: string, operatorId: string, message = CANNOT_CHANGE): Promise<Account> {
    if (id === operatorId) throw new ServiceError('forbidden', message);
    return this.account(id);
  }
}

const CANNOT_CHANGE = "You can't change your own account here. Another operator can.";
/** An operator that disables itself could not undo it. */
const CANNOT_DISABLE = "You can't disable your own account. Another operator can disable it.";

/** @throws {ServiceError} `not_found` for a text that is not the id of an account. */
function accountIdOf(text: string): string {
  if (isUUID(text)) return text;
  throw new ServiceError('not_found', 'This account does not exist.');
}
