import { Body, Get, Inject, Ip } from '@nestjs/common';
import { AccountsService } from '../../accounts/accounts/accounts.service.js';
import { siteOf } from '../../auth/network/client-network.js';
import { CONFIG, type Config } from '../../config/config.js';
import type { FormProblems } from '../forms/form-problems.js';
import { PageForm } from '../forms/page-form.js';
import { PostForm } from '../forms/post-form.decorator.js';
import type { Page } from '../page.js';
import { PageController } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { accountPath, ACCOUNTS_PATH } from '../paths.js';
import { CurrentVisit, type Visit } from '../visit.decorator.js';
import { accountFields } from './account-fields.js';
import { OperatorLog } from './operator-log.js';
import { OperatorOnly } from './operator-only.decorator.js';

interface NewAccountForm {
  readonly email?: string;
  readonly password?: string;
  readonly tier?: string;
}

const PASSWORD = { label: 'Password', name: 'password', type: 'password', autoComplete: 'new-password' } as const;

/** The page on which an operator creates an account. */
@PageController(`${ACCOUNTS_PATH}/new`)
@OperatorOnly()
export class NewAccountController {
  constructor(
    private readonly pages: Pages,
    private readonly accounts: AccountsService,
    private readonly log: OperatorLog,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  @Get()
  show(@CurrentVisit() { accountId, response }: Visit): void {
    this.pages.send(response, this.page(accountId));
  }

  @PostForm()
  async create(
    @Body() form: NewAccountForm,
    @CurrentVisit() { accountId: operatorId, author, response }: Visit,
    @Ip() address: string,
  ): Promise<void> {
    const { email = '', password = '', tier } = form;
    await this.pages.submit(
      response,
      async () => {
        const { id } = await this.accounts.create(
          { email, password: this.pages.hasPasswords ? password : undefined, tier },
          { network: siteOf(address), author },
        );
        this.log.write('An account was created', { operatorId, accountId: id });
        this.pages.leadTo(response, `${accountPath(id)}?done=created`);
      },
      (problems) => this.page(operatorId, form, problems),
    );
  }

  private page(operatorId: string, form: NewAccountForm = {}, problems?: FormProblems): Page {
    const { hasPasswords } = this.pages;
    const { tiers, defaultTier } = this.config;
    const [email, tier] = accountFields(form, tiers.keys(), defaultTier.name);
    const content = (
      <>
        <h1>New account</h1>
        <p>
          {hasPasswords
            ? 'The user signs in with this address and password, and can then change the password.'
            : 'The account belongs to the first person who signs in with this address by single sign-on.'}
        </p>
        <PageForm
          action={accountPath('new')}
          accountId={operatorId}
          fields={hasPasswords ? [email, PASSWORD, tier] : [email, tier]}
          button="Create account"
          cancel={ACCOUNTS_PATH}
          problems={problems}
        />
      </>
    );
    return { title: 'New account', section: 'accounts', width: 'narrow', content };
  }
}
