import { Get, Inject, Param, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import { ACCOUNT_ROLES } from '../../../accounts/account/account-role.js';
import { Invitations } from '../../../accounts/links/invitations.service.js';
import type { VerifiedSession } from '../../../accounts/sessions/sessions.service.js';
import { authorOf } from '../../../auth/session/change-author.decorator.js';
import { CurrentSession } from '../../../auth/session/request-session.js';
import { CONFIG, type Config } from '../../../config/config.js';
import { Form } from '../../../http/body/form/form.decorator.js';
import { AccountForm } from '../../forms/account-form.decorator.js';
import { INVITATION_PATH } from '../../links/link-paths.js';
import type { Page } from '../../page.js';
import { PageController } from '../../page-controller.decorator.js';
import { Pages } from '../../pages.js';
import { choiceIn } from '../../parts/query.js';
import { WithPasswords } from '../../with-passwords.decorator.js';
import { ACCOUNTS_PATH } from '../account-path.js';
import { OperatorLog } from '../operator-log.js';
import { OperatorOnly } from '../operator-only.decorator.js';
import { INVITATIONS_PATH } from './invitation-path.js';
import { InviteView, VALIDITIES, type InviteViewProps } from './invite-view.js';
import { NewLinkView } from './new-link-view.js';

const DEFAULT_DAYS = '7';

interface InvitationForm {
  readonly email?: string;
  readonly tier?: string;
  readonly role?: string;
  readonly days?: string;
}

/** The pages on which an operator invites people, and revokes invitations. */
@PageController(INVITATIONS_PATH.slice(1))
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
  show(@CurrentSession() { account: operator }: VerifiedSession, @Res() response: Response): void {
    this.pages.send(response, this.page({ operatorId: operator.id }));
  }

  /** Creates the invitation, and answers with a page that shows its link. No later request can read the link again. */
  @Post('new')
  @Form()
  async create(
    @AccountForm() { email = '', tier = this.config.defaultTier.name, role: wanted, days: chosen }: InvitationForm,
    @CurrentSession() { account: operator }: VerifiedSession,
    @Res() response: Response,
  ): Promise<void> {
    const days = choiceIn(chosen, VALIDITIES) ?? DEFAULT_DAYS;
    const role = ACCOUNT_ROLES.find((known) => known === wanted) ?? 'member';
    await this.pages.submit(
      response,
      async () => {
        const made = { email, tier, role, validDays: Number(days), createdBy: operator.id };
        const { invitation, token } = await this.invitations.create(made);
        this.log.write('An invitation was created', {
          operatorId: operator.id,
          invitationId: invitation.id,
          tier,
          role,
        });
        const content = NewLinkView({
          title: `Invitation for ${invitation.email}`,
          link: `${this.pages.originOf(response.req)}${INVITATION_PATH}/${token}`,
          expiresAt: invitation.expiresAt,
          next: ACCOUNTS_PATH,
          children: 'Send it to this person over a safe channel: whoever has the link can create the account.',
        });
        const page = { title: 'Invitation', section: 'accounts', script: 'shown-once.js', content } as const;
        this.pages.send(response, page, 201);
      },
      (problems) => this.page({ operatorId: operator.id, email, tier, role, days, problems }),
    );
  }

  @Post(':id/revoke')
  @Form()
  async revoke(
    @Param('id') id: string,
    @AccountForm() _form: unknown,
    @CurrentSession() { account: operator }: VerifiedSession,
    @Res() response: Response,
  ): Promise<void> {
    const invitation = await this.invitations.revoke(id, authorOf(response.req));
    if (invitation !== undefined) {
      this.log.write('An invitation was revoked', { operatorId: operator.id, invitationId: invitation.id });
    }
    this.pages.leadTo(response, `${ACCOUNTS_PATH}?done=invitation-revoked`);
  }

  private page(props: Omit<InviteViewProps, 'tiers' | 'defaultTier'>): Page {
    const { tiers, defaultTier } = this.config;
    const content = InviteView({ tiers: [...tiers.keys()], defaultTier: defaultTier.name, ...props });
    return { title: 'Invite', section: 'accounts', width: 'narrow', content };
  }
}
