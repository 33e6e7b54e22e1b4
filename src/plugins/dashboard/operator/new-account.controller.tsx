import { Body, Get, Inject, Ip, Param } from '@nestjs/common';
import { ACCOUNT_ROLES, AccountsService, Invitations } from '../../../plugin-api/core/accounts.js';
import { INVITATION_PATH, sitePrefixOf } from '../../../plugin-api/core/auth.js';
import { type Config, CONFIG } from '../../../plugin-api/core/config.js';
import type { FormProblems } from '../forms/form-problems.js';
import type { FormField } from '../forms/page-form.js';
import type { Page } from '../layout/layout.js';
import {
  CurrentPageRequest,
  PageController,
  PostForm,
  type PageRequest,
  WithPasswords,
} from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { actionPage, LinkNote } from '../parts/action-pages.js';
import { choiceIn, accountPath, ACCOUNTS_PATH, INVITATIONS_PATH } from '../paths.js';
import { ROLES } from './account-list.js';
import { OperatorActions, OperatorOnly } from './operator-actions.js';

interface EnteredAccount {
  readonly email?: string;
  readonly tier?: string | undefined;
}

interface NewAccountForm extends EnteredAccount {
  readonly password?: string;
}

const PASSWORD = { label: 'Password', name: 'password', type: 'password', autoComplete: 'new-password' } as const;

/** The page on which an operator creates an account. */
@PageController(`${ACCOUNTS_PATH}/new`)
@OperatorOnly()
export class NewAccountController {
  constructor(
    private readonly pages: Pages,
    private readonly accounts: AccountsService,
    private readonly actions: OperatorActions,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  @Get()
  show(@CurrentPageRequest() { accountId, response }: PageRequest): void {
    this.pages.send(response, this.page(accountId));
  }

  @PostForm()
  async create(
    @Body() form: NewAccountForm,
    @CurrentPageRequest() request: PageRequest,
    @Ip() address: string,
  ): Promise<void> {
    const { email = '', password = '', tier } = form;
    await this.pages.submit(
      request.response,
      async () => {
        const { id } = await this.accounts.create(
          { email, password: this.pages.hasPasswords ? password : undefined, tier },
          { network: sitePrefixOf(address), author: request.author },
        );
        this.actions.done(request, 'An account was created', { accountId: id }, `${accountPath(id)}?done=created`);
      },
      (problems) => this.page(request.accountId, form, problems),
    );
  }

  private page(operatorId: string, form: NewAccountForm = {}, problems?: FormProblems): Page {
    const { hasPasswords } = this.pages;
    const { tiers, defaultTier } = this.config;
    const [email, tier] = accountFields(form, tiers.keys(), defaultTier.name);
    return actionPage({
      ...{ title: 'New account', section: 'accounts', heading: 'New account' },
      text: hasPasswords
        ? 'The user signs in with this address and password, and can then change the password.'
        : 'The account belongs to the first person who signs in with this address by single sign-on.',
      fields: hasPasswords ? [email, PASSWORD, tier] : [email, tier],
      action: accountPath('new'),
      accountId: operatorId,
      button: 'Create account',
      cancel: ACCOUNTS_PATH,
      problems,
    });
  }
}

/** How long an invitation is valid, by the number of days. */
const VALIDITIES = { '1': '1 day', '7': '7 days', '30': '30 days' } as const;

interface InvitationForm extends EnteredAccount {
  readonly role?: string;
  readonly days?: string;
}

/** The pages on which an operator invites people, and revokes invitations. */
@PageController(INVITATIONS_PATH)
@WithPasswords()
@OperatorOnly()
export class InvitationsController {
  constructor(
    private readonly pages: Pages,
    private readonly invitations: Invitations,
    private readonly actions: OperatorActions,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  @Get('new')
  show(@CurrentPageRequest() { accountId, response }: PageRequest): void {
    this.pages.send(response, this.page(accountId));
  }

  /** Creates the invitation, and answers with a page that shows its link. */
  @PostForm('new')
  async create(
    @Body() { email = '', tier = this.config.defaultTier.name, role: wanted, days: chosen }: InvitationForm,
    @CurrentPageRequest() request: PageRequest,
  ): Promise<void> {
    const days = choiceIn(chosen, VALIDITIES) ?? '7';
    const role = ACCOUNT_ROLES.find((known) => known === wanted) ?? 'member';
    await this.pages.submit(
      request.response,
      async () => {
        const newInvitation = { email, tier, role, validDays: Number(days), createdBy: request.accountId };
        const { id, token, expiresAt, ...invitation } = await this.invitations.create(newInvitation);
        this.actions.showOnce(request, {
          msg: 'An invitation was created',
          subject: { invitationId: id, tier, role },
          title: 'Invitation',
          heading: `Invitation for ${invitation.email}`,
          what: 'link',
          secret: `${this.pages.originOf(request.response.req)}${INVITATION_PATH}/${token}`,
          advice: 'Send it to this person over a safe channel: whoever has the link can create the account.',
          note: <LinkNote expiresAt={expiresAt} />,
          next: ACCOUNTS_PATH,
        });
      },
      (problems) => this.page(request.accountId, { email, tier, role, days }, problems),
    );
  }

  @PostForm(':id/revoke')
  async revoke(@Param('id') id: string, @CurrentPageRequest() request: PageRequest): Promise<void> {
    const revoked = await this.invitations.revoke(id, request.author);
    const next = `${ACCOUNTS_PATH}?done=invitation-revoked`;
    if (revoked) this.actions.done(request, 'An invitation was revoked', { invitationId: id }, next);
    else this.pages.redirect(request.response, next);
  }

  private page(operatorId: string, form: InvitationForm = {}, problems?: FormProblems): Page {
    const { tiers, defaultTier } = this.config;
    const { role = 'member', days = '7' } = form;
    const hint = 'Operators see all accounts and their usage, and can change them.';
    return actionPage({
      ...{ title: 'Invite', section: 'accounts', heading: 'Invite' },
      text: 'Creates a link with which one person creates the account of this address and chooses the password. It also works while sign-up is closed. A new invitation replaces an earlier one for the same address.',
      fields: [
        ...accountFields(form, tiers.keys(), defaultTier.name),
        { label: 'Role', name: 'role', type: 'select', options: ROLES, value: role, hint },
        { label: 'Link expires after', name: 'days', type: 'select', options: VALIDITIES, value: days },
      ],
      action: `${INVITATIONS_PATH}/new`,
      accountId: operatorId,
      button: 'Create invitation',
      cancel: ACCOUNTS_PATH,
      problems,
    });
  }
}

/** The fields with which an operator describes a new account. */
function accountFields(
  { email, tier }: EnteredAccount,
  tiers: Iterable<string>,
  defaultTier: string,
): readonly [email: FormField, tier: FormField] {
  const options = Object.fromEntries([...tiers].map((name) => [name, name]));
  return [
    { label: 'Email', name: 'email', type: 'email', value: email, maxLength: 254, autoComplete: 'off' },
    { label: 'Tier', name: 'tier', type: 'select', options, value: tier ?? defaultTier },
  ];
}
