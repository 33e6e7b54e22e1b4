import { Get, Param, Post, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { AccountStates } from '../../accounts/accounts/account-states.js';
import { AccountsService } from '../../accounts/accounts/accounts.service.js';
import type { VerifiedSession } from '../../accounts/sessions/sessions.service.js';
import { authorOf } from '../../auth/session/change-author.decorator.js';
import { CurrentSession } from '../../auth/session/request-session.js';
import { ServiceError } from '../../common/service-error.js';
import { Form } from '../../http/body/form/form.decorator.js';
import { LimitedByBudget } from '../../throttling/budgets/limited-by-budget.decorator.js';
import { ReportSemaphore } from '../../usage/reports/report-semaphore.js';
import { ApiKeysService } from '../../accounts/api-keys/api-keys.service.js';
import { revocationPage } from '../api-keys/revocation-page.js';
import { AccountForm } from '../forms/account-form.decorator.js';
import type { QueryValues } from '../parts/query.js';
import { PageController } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { accountIdOf, accountPath, ACCOUNTS_ROUTE } from './account-path.js';
import { OperatorLog } from './operator-log.js';
import { OperatorOnly } from './operator-only.decorator.js';
import { accountConfirmation } from './account-confirmation.js';
import { AccountPage } from './account-page.js';

interface TierForm {
  readonly tier?: string;
}

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

/** The page of an operator about one account, and the changes of its tier, its state and its keys. */
@PageController(`${ACCOUNTS_ROUTE}/:id`)
@OperatorOnly()
export class OperatedAccountController {
  constructor(
    private readonly pages: Pages,
    private readonly page: AccountPage,
    private readonly accounts: AccountsService,
    private readonly states: AccountStates,
    private readonly keys: ApiKeysService,
    private readonly semaphore: ReportSemaphore,
    private readonly log: OperatorLog,
  ) {}

  @Get()
  @LimitedByBudget('pages')
  async show(
    @Param('id') id: string,
    @Query() query: QueryValues,
    @CurrentSession() { account: operator }: VerifiedSession,
    @Res() response: Response,
  ): Promise<void> {
    const account = await this.accounts.get({ id: accountIdOf(id) });
    const done = DONE.get(query['done']);
    const page = await this.semaphore.run(operator.id, () => this.page.of(account, operator.id, query, { done }));
    this.pages.send(response, page);
  }

  @Post('tier')
  @Form()
  async changeTier(
    @Param('id') id: string,
    @AccountForm() { tier = '' }: TierForm,
    @CurrentSession() { account: operator }: VerifiedSession,
    @Res() response: Response,
  ): Promise<void> {
    const account = await this.accounts.get({ id: accountIdOf(id) });
    await this.pages.submit(
      response,
      async () => {
        await this.accounts.setTier({ id }, tier, authorOf(response.req));
        this.log.write('The tier of an account was changed', { operatorId: operator.id, accountId: id, tier });
        this.pages.leadTo(response, `${accountPath(id)}?done=tier`);
      },
      (problems) => this.page.of(account, operator.id, {}, { problems }),
    );
  }

  /** Shows the page that asks the operator to confirm. */
  @Get('disable')
  async confirmDisabling(
    @Param('id') id: string,
    @CurrentSession() { account: operator }: VerifiedSession,
    @Res() response: Response,
  ): Promise<void> {
    expectOther(id, operator.id);
    const account = await this.accounts.get({ id: accountIdOf(id) });
    if (account.disabledAt !== null) {
      this.pages.leadTo(response, accountPath(id));
      return;
    }
    const page = accountConfirmation(operator.id, account, {
      action: 'disable',
      title: `Disable ${account.email}`,
      children:
        'This signs the account out everywhere. Its API keys are refused at once, and its running streams end within two seconds. You can enable the account again: its keys then work again, and its sessions stay ended.',
      button: 'Disable',
      tone: 'danger',
    });
    this.pages.send(response, page);
  }

  @Post('disable')
  @Form()
  async disable(
    @Param('id') id: string,
    @AccountForm() _form: unknown,
    @CurrentSession() { account: operator }: VerifiedSession,
    @Res() response: Response,
  ): Promise<void> {
    expectOther(id, operator.id);
    await this.states.disable({ id: accountIdOf(id) }, authorOf(response.req));
    this.log.write('An account was disabled', { operatorId: operator.id, accountId: id });
    this.pages.leadTo(response, `${accountPath(id)}?done=disabled`);
  }

  @Post('enable')
  @Form()
  async enable(
    @Param('id') id: string,
    @AccountForm() _form: unknown,
    @CurrentSession() { account: operator }: VerifiedSession,
    @Res() response: Response,
  ): Promise<void> {
    await this.states.enable({ id: accountIdOf(id) }, authorOf(response.req));
    this.log.write('An account was enabled', { operatorId: operator.id, accountId: id });
    this.pages.leadTo(response, `${accountPath(id)}?done=enabled`);
  }

  /** Shows the page that asks the operator to confirm. */
  @Get('keys/:key/revoke')
  async confirmRevocation(
    @Param('id') id: string,
    @Param('key') keyId: string,
    @CurrentSession() { account: operator }: VerifiedSession,
    @Res() response: Response,
  ): Promise<void> {
    const { email: owner } = await this.accounts.get({ id: accountIdOf(id) });
    const apiKey = await this.keys.find(keyId, id);
    const path = accountPath(id);
    const form = { action: accountPath(id, `keys/${keyId}/revoke`), cancel: path, owner };
    if (apiKey.revokedAt !== null) this.pages.leadTo(response, `${path}?done=revoked`);
    else this.pages.send(response, revocationPage(operator.id, apiKey, form));
  }

  @Post('keys/:key/revoke')
  @Form()
  async revoke(
    @Param('id') id: string,
    @Param('key') keyId: string,
    @AccountForm() _form: unknown,
    @CurrentSession() { account: operator }: VerifiedSession,
    @Res() response: Response,
  ): Promise<void> {
    await this.keys.revoke(keyId, accountIdOf(id), authorOf(response.req));
    this.log.write('An API key was revoked', { operatorId: operator.id, accountId: id, keyId });
    this.pages.leadTo(response, `${accountPath(id)}?done=revoked`);
  }
}

/** An operator that disables itself could not undo it. */
function expectOther(accountId: string, operatorId: string): void {
  if (accountId !== operatorId) return;
  throw new ServiceError('forbidden', "You can't disable your own account. Another operator can disable it.");
}
