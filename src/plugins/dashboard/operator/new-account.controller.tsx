import { Body, Get, Inject, Ip } from '@nestjs/common';
import { AccountsService } from '../../../accounts/accounts/accounts.service.js';
import { sitePrefixOf } from '../../../auth/network/client-network.js';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import type { FormProblems } from '../forms/form-problems.js';
import { PageForm, type FormField } from '../forms/page-form.js';
import type { Page } from '../layout/layout.js';
import { CurrentPageRequest, PageController, PostForm, type PageRequest } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { accountPath, ACCOUNTS_PATH } from '../paths.js';
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
  show(@CurrentPageRequest() { accountId, response }: PageRequest): void {
    this.pages.send(response, this.page(accountId));
  }

  @PostForm()
  async create(
    @Body() form: NewAccountForm,
    @CurrentPageRequest() { accountId: operatorId, author, response }: PageRequest,
    @Ip() address: string,
  ): Promise<void> {
    const { email = '', password = '', tier } = form;
    await this.pages.submit(
      response,
      async () => {
        const { id } = await this.accounts.create(
          { email, password: this.pages.hasPasswords ? password : undefined, tier },
          { network: sitePrefixOf(address), author },
        );
        this.log.write('An account was created', { operatorId, accountId: id });
        this.pages.redirect(response, `${accountPath(id)}?done=created`);
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

interface EnteredAccount {
  readonly email?: string | undefined;
  readonly tier?: string | undefined;
}

/** The fields with which an operator describes a new account. */
export function accountFields(
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
