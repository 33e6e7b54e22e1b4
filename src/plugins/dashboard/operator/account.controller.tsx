import { Body, Get, Param } from '@nestjs/common';
import {
  type Account,
  accountIdOf,
  AccountRoles,
  AccountsService,
  AccountStates,
  OperatorTree,
  PasswordResets,
  type GrantedAccess,
} from '../../../plugin-api/core/accounts.js';
import { ServiceError } from '../../../plugin-api/core/common.js';
import { RateLimited } from '../../../plugin-api/core/throttling.js';
import { ReportSemaphore } from '../../../plugin-api/core/usage.js';
import {
  CurrentPageRequest,
  PageController,
  PostForm,
  type PageRequest,
  WithPasswords,
} from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { LinkNote, actionPage } from '../parts/action-pages.js';
import { RESET_PATH } from '../../../plugin-api/core/auth.js';
import { accountPath, ACCOUNTS_PATH } from '../paths.js';
import { AccountPage } from './account-page.js';
import { cascadeIn, type CascadeForm, cascadeFields, GrantedAccessTree } from './granted-access.js';
import { OperatorActions, OperatorOnly } from './operator-actions.js';
import type { PageFormProps } from '../forms/page-form.js';
import type { Page } from '../layout/layout.js';
import { accountFacts } from './account-list.js';

/** A change of an account that an operator has to confirm. Its name is the last part of its path. */
type ConfirmedChange = 'role' | 'password' | 'disable' | 'delete';

interface ChangeTexts extends Pick<PageFormProps, 'fields' | 'button' | 'tone'> {
  readonly title: string;
  /** What the change does. */
  readonly text: string;
}

/**
 * The page that asks an operator to confirm a change of an account.
 *
 * @param granted what the account has made as an operator, for a change that can end it.
 */
function changeConfirmation(
  change: ConfirmedChange,
  account: Account,
  operatorId: string,
  granted: readonly GrantedAccess[] = [],
): Page {
  const { fields = [], ...texts } = textsOf(change, account);
  return actionPage({
    ...texts,
    fields: [...fields, ...cascadeFields(granted)],
    more: <GrantedAccessTree granted={granted} root={account.id} />,
    section: 'accounts',
    heading: `${texts.title}?`,
    facts: accountFacts(account),
    action: accountPath(account.id, change),
    accountId: operatorId,
    cancel: accountPath(account.id),
  });
}

function textsOf(change: ConfirmedChange, { email, role }: Account): ChangeTexts {
  switch (change) {
    case 'role': {
      const isOperator = role === 'operator';
      const next = isOperator ? 'member' : 'operator';
      return {
        title: `Make ${email} ${isOperator ? 'a' : 'an'} ${next}`,
        text: isOperator
          ? 'A member manages only its own account.'
          : 'An operator sees all accounts and their usage, and can change, disable and delete accounts.',
        fields: [{ type: 'hidden', name: 'role', value: next }],
        button: `Make ${next}`,
        tone: 'danger',
      };
    }
    case 'password':
      return {
        title: `Reset the password of ${email}`,
        text: 'This creates a one-time link with which the user chooses a new password. The present password works until then. A new password signs the account out everywhere, and its API keys stay valid.',
        button: 'Create link',
      };
    case 'disable':
      return {
        title: `Disable ${email}`,
        text: 'This signs the account out everywhere. Its API keys are refused at once, and its running streams end within two seconds. You can enable the account again: its keys then work again, and its sessions stay ended.',
        button: 'Disable',
        tone: 'danger',
      };
    case 'delete':
      return {
        title: `Delete ${email}`,
        text: 'This deletes the account and its API keys, and ends its sessions and streams. It cannot be undone. The usage records stay.',
        button: 'Delete',
        tone: 'danger',
      };
  }
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
  ['changed', 'The key was changed.'],
]);

/** The page of an operator about one account, and the changes of the account. */
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
    private readonly tree: OperatorTree,
    private readonly semaphore: ReportSemaphore,
    private readonly actions: OperatorActions,
  ) {}

  @Get()
  @RateLimited('pages')
  async show(
    @Param('id') id: string,
    @CurrentPageRequest() { accountId: operatorId, query, response }: PageRequest,
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
    @CurrentPageRequest() request: PageRequest,
  ): Promise<void> {
    const account = await this.account(id);
    await this.pages.submit(
      request.response,
      async () => {
        await this.accounts.setTier({ id }, tier, request.author);
        const subject = { accountId: id, tier };
        this.actions.done(request, 'The tier of an account was changed', subject, `${accountPath(id)}?done=tier`);
      },
      (problems) => this.page.of(account, request.accountId, {}, { problems }),
    );
  }

  @Get('role')
  async confirmRole(@Param('id') id: string, @CurrentPageRequest() request: PageRequest): Promise<void> {
    await this.confirm('role', await this.other(id, request), request);
  }

  @PostForm('role')
  async setRole(
    @Param('id') id: string,
    @Body() { role = '', ...form }: CascadeForm & { readonly role?: string },
    @CurrentPageRequest() request: PageRequest,
  ): Promise<void> {
    await this.other(id, request);
    await this.roles.set({ id }, role, request.author, cascadeIn(form));
    const subject = { accountId: id, role };
    this.actions.done(request, 'The role of an account was changed', subject, `${accountPath(id)}?done=role`);
  }

  @Get('password')
  @WithPasswords()
  async confirmResetLink(@Param('id') id: string, @CurrentPageRequest() request: PageRequest): Promise<void> {
    const account = await this.other(id, request);
    this.pages.send(request.response, changeConfirmation('password', account, request.accountId));
  }

  /** Creates the link, and answers with a page that shows it. */
  @PostForm('password')
  @WithPasswords()
  async createResetLink(@Param('id') id: string, @CurrentPageRequest() request: PageRequest): Promise<void> {
    const account = await this.other(id, request);
    const { token, expiresAt } = await this.resets.create(id, request.accountId);
    this.actions.showOnce(request, {
      msg: 'A link for a new password was created',
      subject: { accountId: id },
      title: 'New password',
      heading: `New password for ${account.email}`,
      what: 'link',
      secret: `${this.pages.originOf(request.response.req)}${RESET_PATH}/${token}`,
      advice: 'Send it to the user over a safe channel: whoever has the link can take over the account.',
      note: <LinkNote expiresAt={expiresAt} />,
      next: accountPath(id),
    });
  }

  @PostForm('password/revoke')
  @WithPasswords()
  async revokeResetLink(@Param('id') id: string, @CurrentPageRequest() request: PageRequest): Promise<void> {
    await this.other(id, request);
    await this.resets.revoke(id, request.author);
    const next = `${accountPath(id)}?done=link-revoked`;
    this.actions.done(request, 'A link for a new password was revoked', { accountId: id }, next);
  }

  @Get('disable')
  async confirmDisabling(@Param('id') id: string, @CurrentPageRequest() request: PageRequest): Promise<void> {
    const account = await this.other(id, request, CANNOT_DISABLE);
    if (account.disabledAt === null) await this.confirm('disable', account, request);
    else this.pages.redirect(request.response, accountPath(id));
  }

  @PostForm('disable')
  async disable(
    @Param('id') id: string,
    @Body() form: CascadeForm,
    @CurrentPageRequest() request: PageRequest,
  ): Promise<void> {
    await this.other(id, request, CANNOT_DISABLE);
    await this.states.disable({ id }, request.author, cascadeIn(form));
    this.actions.done(request, 'An account was disabled', { accountId: id }, `${accountPath(id)}?done=disabled`);
  }

  @PostForm('enable')
  async enable(@Param('id') id: string, @CurrentPageRequest() request: PageRequest): Promise<void> {
    await this.states.enable({ id: accountIdOf(id) }, request.author);
    this.actions.done(request, 'An account was enabled', { accountId: id }, `${accountPath(id)}?done=enabled`);
  }

  @Get('delete')
  async confirmDelete(@Param('id') id: string, @CurrentPageRequest() request: PageRequest): Promise<void> {
    await this.confirm('delete', await this.other(id, request), request);
  }

  @PostForm('delete')
  async delete(
    @Param('id') id: string,
    @Body() form: CascadeForm,
    @CurrentPageRequest() request: PageRequest,
  ): Promise<void> {
    await this.other(id, request);
    await this.states.delete({ id }, request.author, cascadeIn(form));
    this.actions.done(request, 'An account was deleted', { accountId: id }, `${ACCOUNTS_PATH}?done=deleted`);
  }

  /** Asks for a change that can also end what the account has made as an operator. */
  private async confirm(
    change: ConfirmedChange,
    account: Account,
    { accountId, author, response }: PageRequest,
  ): Promise<void> {
    const endsOperator = change !== 'role' || account.role === 'operator';
    const granted = endsOperator ? await this.tree.of(account.id, author) : [];
    this.pages.send(response, changeConfirmation(change, account, accountId, granted));
  }

  private account(id: string): Promise<Account> {
    return this.accounts.get({ id: accountIdOf(id) });
  }

  /** @throws {ServiceError} `forbidden` for the own account, which only another operator may change. */
  private other(id: string, request: PageRequest, message = CANNOT_CHANGE): Promise<Account> {
    if (id === request.accountId) throw new ServiceError('forbidden', message);
    return this.account(id);
  }
}

const CANNOT_CHANGE = "You can't change your own account here. Another operator can.";
/** An operator that disables itself could not undo it. */
const CANNOT_DISABLE = "You can't disable your own account. Another operator can disable it.";
