import { Get, Inject, Ip, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import { AccountsService } from '../../accounts/accounts/accounts.service.js';
import type { VerifiedSession } from '../../accounts/sessions/sessions.service.js';
import { siteOf } from '../../auth/network/client-network.js';
import { authorOf } from '../../auth/session/change-author.decorator.js';
import { CurrentSession } from '../../auth/session/request-session.js';
import { CONFIG, type Config } from '../../config/config.js';
import { Form } from '../../http/body/form/form.decorator.js';
import { AccountForm } from '../forms/account-form.decorator.js';
import type { Page } from '../page.js';
import { PageController } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { accountPath, ACCOUNTS_ROUTE } from './account-path.js';
import { NewAccountView, type NewAccountViewProps } from './new-account-view.js';
import { OperatorLog } from './operator-log.js';
import { OperatorOnly } from './operator-only.decorator.js';

interface NewAccountForm {
  readonly email?: string;
  readonly password?: string;
  readonly tier?: string;
}

/** The page on which an operator creates an account. */
@PageController(`${ACCOUNTS_ROUTE}/new`)
@OperatorOnly()
export class NewAccountController {
  constructor(
    private readonly pages: Pages,
    private readonly accounts: AccountsService,
    private readonly log: OperatorLog,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  @Get()
  show(@CurrentSession() { account: operator }: VerifiedSession, @Res() response: Response): void {
    this.pages.send(response, this.page({ operatorId: operator.id }));
  }

  @Post()
  @Form()
  async create(
    @AccountForm() { email = '', password, tier }: NewAccountForm,
    @CurrentSession() { account: operator }: VerifiedSession,
    @Ip() address: string,
    @Res() response: Response,
  ): Promise<void> {
    await this.pages.submit(
      response,
      async () => {
        const { id } = await this.accounts.create(
          { email, password: this.pages.hasPasswords ? (password ?? '') : undefined, tier },
          { network: siteOf(address), author: authorOf(response.req) },
        );
        this.log.write('An account was created', { operatorId: operator.id, accountId: id });
        this.pages.leadTo(response, `${accountPath(id)}?done=created`);
      },
      (problems) => this.page({ operatorId: operator.id, email, tier, problems }),
    );
  }

  private page(props: Omit<NewAccountViewProps, 'tiers' | 'defaultTier' | 'hasPasswords'>): Page {
    const { tiers, defaultTier } = this.config;
    const content = NewAccountView({
      hasPasswords: this.pages.hasPasswords,
      tiers: [...tiers.keys()],
      defaultTier: defaultTier.name,
      ...props,
    });
    return { title: 'New account', section: 'accounts', width: 'narrow', content };
  }
}
