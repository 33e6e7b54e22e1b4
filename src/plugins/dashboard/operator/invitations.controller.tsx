import { Body, Get, Inject, Param } from '@nestjs/common';
import { ACCOUNT_ROLES } from '../../../accounts/account/account.entity.js';
import { Invitations } from '../../../accounts/links/invitations.service.js';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import type { FormProblems } from '../forms/form-problems.js';
import { PageForm } from '../forms/page-form.js';
import {
  CurrentPageRequest,
  PageController,
  PostForm,
  WithPasswords,
  type PageRequest,
} from '../page-controller.decorator.js';
import type { Page } from '../layout/layout.js';
import { Pages } from '../pages.js';
import { choiceIn } from '../parts/query.js';
import { LinkNote, shownOncePage } from '../parts/action-pages.js';
import { ACCOUNTS_PATH, INVITATION_PATH, INVITATIONS_PATH } from '../paths.js';
import { accountFields } from './new-account.controller.js';
import { ROLES } from './listed-account.js';
import { OperatorLog } from './operator-log.js';
import { OperatorOnly } from './operator-only.decorator.js';

/** How long an invitation is valid, by the number of days. */
const VALIDITIES = { '1': '1 day', '7': '7 days', '30': '30 days' } as const;

interface InvitationForm {
  readonly email?: string;
  readonly tier?: string;
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
    private readonly log: OperatorLog,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  @Get('new')
  show(@CurrentPageRequest() { accountId, response }: PageRequest): void {
    this.pages.send(response, this.page(accountId));
  }

  /** Creates the invitation, and answers with a page that shows its link. No later request can read the link again. */
  @PostForm('new')
  async create(
    @Body() { email = '', tier = this.config.defaultTier.name, role: wanted, days: chosen }: InvitationForm,
    @CurrentPageRequest() { accountId: operatorId, response }: PageRequest,
  ): Promise<void> {
    const days = choiceIn(chosen, VALIDITIES) ?? '7';
    const role = ACCOUNT_ROLES.find((known) => known === wanted) ?? 'member';
    await this.pages.submit(
      response,
      async () => {
        const made = { email, tier, role, validDays: Number(days), createdBy: operatorId };
        const { invitation, token } = await this.invitations.create(made);
        this.log.write('An invitation was created', { operatorId, invitationId: invitation.id, tier, role });
        const page = shownOncePage({
          title: 'Invitation',
          heading: `Invitation for ${invitation.email}`,
          what: 'link',
          secret: `${this.pages.originOf(response.req)}${INVITATION_PATH}/${token}`,
          advice: 'Send it to this person over a safe channel: whoever has the link can create the account.',
          note: <LinkNote expiresAt={invitation.expiresAt} />,
          next: ACCOUNTS_PATH,
        });
        this.pages.send(response, page, 201);
      },
      (problems) => this.page(operatorId, { email, tier, role, days }, problems),
    );
  }

  @PostForm(':id/revoke')
  async revoke(
    @Param('id') id: string,
    @CurrentPageRequest() { accountId: operatorId, author, response }: PageRequest,
  ): Promise<void> {
    const invitation = await this.invitations.revoke(id, author);
    if (invitation !== undefined) {
      this.log.write('An invitation was revoked', { operatorId, invitationId: invitation.id });
    }
    this.pages.redirect(response, `${ACCOUNTS_PATH}?done=invitation-revoked`);
  }

  private page(operatorId: string, form: InvitationForm = {}, problems?: FormProblems): Page {
    const { tiers, defaultTier } = this.config;
    const { role = 'member', days = '7' } = form;
    const content = (
      <>
        <h1>Invite</h1>
        <p>
          Creates a link with which one person creates the account of this address and chooses the password. It also
          works while sign-up is closed. A new invitation replaces an earlier one for the same address.
        </p>
        <PageForm
          action={`${INVITATIONS_PATH}/new`}
          accountId={operatorId}
          fields={[
            ...accountFields(form, tiers.keys(), defaultTier.name),
            {
              label: 'Role',
              name: 'role',
              type: 'select',
              options: ROLES,
              value: role,
              hint: 'Operators see all accounts and their usage, and can change them.',
            },
            { label: 'Link expires after', name: 'days', type: 'select', options: VALIDITIES, value: days },
          ]}
          button="Create invitation"
          cancel={ACCOUNTS_PATH}
          problems={problems}
        />
      </>
    );
    return { title: 'Invite', section: 'accounts', width: 'narrow', content };
  }
}
