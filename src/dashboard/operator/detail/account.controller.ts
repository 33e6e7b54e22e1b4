import { Body, Get, Param, Post, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { AccountStates } from '../../../accounts/accounts/account-states.js';
import { AccountsService } from '../../../accounts/accounts/accounts.service.js';
import type { VerifiedSession } from '../../../accounts/sessions/sessions.service.js';
import { CurrentSession } from '../../../auth/session/request-session.js';
import { ServiceError } from '../../../common/service-error.js';
import { Form } from '../../../http/body/form/form.decorator.js';
import { ReportGate } from '../../../usage/reports/report-gate.js';
import { problemsOf } from '../../forms/field-problems.js';
import { expectMadeFor, type MadeForField } from '../../forms/made-for.js';
import { PageController } from '../../page-controller.decorator.js';
import { Pages } from '../../pages.js';
import { accountIdOf, accountPath, ACCOUNTS_ROUTE } from '../account-path.js';
import { OperatorLog } from '../operator-log.js';
import { OperatorOnly } from '../operator-only.decorator.js';
import { AccountPage } from './account-page.js';
import { DisableView } from './disable-view.js';

interface TierForm extends MadeForField {
  readonly tier?: string;
}

/** What a page reports right after a change. */
const DONE: ReadonlyMap<unknown, string> = new Map([
  ['tier', 'The tier was changed.'],
  ['disabled', 'The account was disabled.'],
  ['enabled', 'The account was enabled.'],
  ['revoked', 'The key was revoked.'],
]);

/** The page of an operator about one account, and the changes of its tier and its state. */
@PageController(`${ACCOUNTS_ROUTE}/:id`)
@OperatorOnly()
export class OperatedAccountController {
  constructor(
    private readonly pages: Pages,
    private readonly page: AccountPage,
    private readonly accounts: AccountsService,
    private readonly states: AccountStates,
    private readonly gate: ReportGate,
    private readonly log: OperatorLog,
  ) {}

  @Get()
  async show(
    @Param('id') id: string,
    @Query() query: Readonly<Record<string, unknown>>,
    @CurrentSession() { account: operator }: VerifiedSession,
    @Res() response: Response,
  ): Promise<void> {
    const account = await this.accounts.get({ id: accountIdOf(id) });
    const done = DONE.get(query['done']);
    const page = await this.gate.run(operator.id, () => this.page.of(account, operator.id, query, { done }));
    this.pages.send(response, page);
  }

  @Post('tier')
  @Form()
  async changeTier(
    @Param('id') id: string,
    @Body() form: TierForm,
    @CurrentSession() session: VerifiedSession,
    @Res() response: Response,
  ): Promise<void> {
    expectMadeFor(form, session);
    const account = await this.accounts.get({ id: accountIdOf(id) });
    const operatorId = session.account.id;
    const { tier = '' } = form;
    try {
      await this.accounts.setTier({ id }, tier);
    } catch (error) {
      const problems = problemsOf(error, response.req);
      this.pages.sendFailure(response, await this.page.of(account, operatorId, {}, { problems }), problems.error);
      return;
    }
    this.log.write('The tier of an account was changed', { operatorId, accountId: id, tier });
    this.pages.leadTo(response, `${accountPath(id)}?done=tier`);
  }

  /** Shows the page that asks the operator to confirm. */
  @Get('disable')
  async askToDisable(
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
    const content = DisableView({ account, operatorId: operator.id });
    this.pages.send(response, { title: `Disable ${account.email}`, place: 'accounts', width: 'narrow', content });
  }

  @Post('disable')
  @Form()
  async disable(
    @Param('id') id: string,
    @Body() form: MadeForField,
    @CurrentSession() session: VerifiedSession,
    @Res() response: Response,
  ): Promise<void> {
    expectMadeFor(form, session);
    const operatorId = session.account.id;
    expectOther(id, operatorId);
    await this.states.disable({ id: accountIdOf(id) });
    this.log.write('An account was disabled', { operatorId, accountId: id });
    this.pages.leadTo(response, `${accountPath(id)}?done=disabled`);
  }

  @Post('enable')
  @Form()
  async enable(
    @Param('id') id: string,
    @Body() form: MadeForField,
    @CurrentSession() session: VerifiedSession,
    @Res() response: Response,
  ): Promise<void> {
    expectMadeFor(form, session);
    await this.states.enable({ id: accountIdOf(id) });
    this.log.write('An account was enabled', { operatorId: session.account.id, accountId: id });
    this.pages.leadTo(response, `${accountPath(id)}?done=enabled`);
  }
}

/** An operator that disables itself could not undo it. */
function expectOther(accountId: string, operatorId: string): void {
  if (accountId !== operatorId) return;
  throw new ServiceError('forbidden', "You can't disable your own account. Another operator can disable it.");
}
