import { Body, Get, Ip, Optional } from '@nestjs/common';
import { AccountsService, hasPassword, type VerifiedSession } from '../../plugin-api/core/accounts.js';
import { PasswordChange, SessionCookie } from '../../plugin-api/core/auth.js';
import { LINK_PATH, SingleSignOn } from '../../plugin-api/single-sign-on.js';
import type { FormProblems } from './forms/form-problems.js';
import { NEW_PASSWORD, PageForm } from './forms/page-form.js';
import {
  CurrentPageRequest,
  PageController,
  PostForm,
  type PageRequest,
  WithPasswords,
} from './page-controller.decorator.js';
import { limitsOf } from './numbers-and-times.js';
import type { Page } from './layout/layout.js';
import { Pages } from './pages.js';
import { Facts, Notice, Section } from './parts/blocks.js';
import { pathWith, textIn, ACCOUNT_PATH, ACTIVITY_PATH } from './paths.js';

interface ChangeForm {
  readonly current_password?: string;
  readonly new_password?: string;
  /** Browsers send this field only when the box is checked. */
  readonly revoke_keys?: string;
}

/** What the page shows in addition to the account. */
interface Shown {
  /** The report right after a change. */
  readonly done?: string | undefined;
  /** Whether the box to revoke the keys is checked. */
  readonly revokeKeys?: boolean;
  readonly problems?: FormProblems;
}

/** What the page reports right after a change. */
const DONE: ReadonlyMap<unknown, string> = new Map([
  ['linked', 'Your account is linked. You can sign in by single sign-on now.'],
  ['unlinked', 'Your account is not linked to single sign-on any more.'],
]);

/** The page of the account that is signed in. */
@PageController(ACCOUNT_PATH)
export class AccountController {
  constructor(
    private readonly pages: Pages,
    private readonly passwords: PasswordChange,
    private readonly accounts: AccountsService,
    private readonly cookie: SessionCookie,
    @Optional() private readonly signOns?: SingleSignOn,
  ) {}

  @Get()
  async show(@CurrentPageRequest() { session, query: { done, revoked }, response }: PageRequest): Promise<void> {
    const report = done === 'password' ? reportOf(textIn(revoked, 5)) : DONE.get(done);
    this.pages.send(response, await this.page(session, { done: report }));
  }

  @PostForm('password')
  @WithPasswords()
  async changePassword(
    @Body() { current_password: current = '', new_password: next = '', revoke_keys: revoke }: ChangeForm,
    @CurrentPageRequest() { session, response }: PageRequest,
    @Ip() address: string,
  ): Promise<void> {
    const revokeKeys = revoke !== undefined;
    await this.pages.submit(
      response,
      async () => {
        const changed = await this.passwords.change(session, { current, next, revokeKeys }, address);
        this.cookie.set(response, changed.token, changed.expiresAt);
        const revoked = revokeKeys ? changed.revokedKeys : undefined;
        this.pages.redirect(response, pathWith(ACCOUNT_PATH, { done: 'password', revoked }));
      },
      (problems) => this.page(session, { revokeKeys, problems }),
    );
  }

  private async page({ account }: VerifiedSession, { done, ...shown }: Shown): Promise<Page> {
    const { id, email, tier } = account;
    const [owner, identity] = await Promise.all([this.accounts.findById(id), this.signOns?.accounts.identityOf(id)]);
    // The page of an account that was deleted just now stays as it was.
    const hasOwnPassword = this.pages.hasPasswords && (owner === undefined || hasPassword(owner));
    const issuer = this.signOns?.link?.host;
    const content = (
      <>
        <h1>Account</h1>
        <Notice tone="good">{done}</Notice>
        <section>
          <Facts facts={[['Email', email], ['Tier', tier.name], ...limitsOf(tier)]} />
          {this.pages.has('audit') ? (
            <p>
              <a href={ACTIVITY_PATH}>Activity of this account</a>
            </p>
          ) : null}
        </section>
        {issuer === undefined ? null : <SingleSignOnSection accountId={id} {...{ identity, issuer, hasOwnPassword }} />}
        {hasOwnPassword ? <PasswordForm accountId={id} username={email} {...shown} /> : null}
      </>
    );
    return { title: 'Account', section: 'account', width: 'narrow', content };
  }
}

/** @param revokedKeys the number of revoked API keys, if the user wanted to revoke the keys. */
function reportOf(revokedKeys: string | undefined): string {
  const sessions = "Your password was changed. You've been signed out everywhere else.";
  if (revokedKeys === undefined || !/^\d{1,4}$/.test(revokedKeys)) return sessions;
  return `${sessions} ${revokedKeys === '1' ? '1 API key was' : `${revokedKeys} API keys were`} revoked.`;
}

interface PasswordFormProps extends Pick<Shown, 'revokeKeys' | 'problems'> {
  readonly accountId: string;
  readonly username: string;
}

function PasswordForm({ revokeKeys = false, ...form }: PasswordFormProps) {
  return (
    <PageForm
      {...form}
      action={`${ACCOUNT_PATH}/password`}
      heading="Change password"
      text="This signs you out in all other browsers. API keys keep working unless you revoke them here."
      fields={[
        { label: 'Current password', name: 'current_password', type: 'password', autoComplete: 'current-password' },
        { ...NEW_PASSWORD, label: 'New password', name: 'new_password' },
        {
          label: 'Revoke all API keys',
          name: 'revoke_keys',
          type: 'checkbox',
          checked: revokeKeys,
          hint: 'Programs that use these keys lose access at once. Choose this if somebody else knows your password.',
        },
      ]}
      button="Change password"
    />
  );
}

interface SingleSignOnSectionProps {
  readonly accountId: string;
  readonly identity: { readonly email: string | null } | undefined;
  readonly hasOwnPassword: boolean;
  /** The host of the issuer. */
  readonly issuer: string;
}

function SingleSignOnSection({ accountId, identity, hasOwnPassword, issuer }: SingleSignOnSectionProps) {
  return (
    <Section id="single-sign-on" title="Single sign-on">
      {identity === undefined ? (
        <>
          <p>Link this account to sign in with your account at {issuer}.</p>
          <p>
            <a href={LINK_PATH} role="button" class="outline">
              Link account
            </a>
          </p>
        </>
      ) : (
        <>
          <p>
            You sign in at {issuer}
            {identity.email === null ? '' : ` as ${identity.email}`}.
          </p>
          {hasOwnPassword ? (
            <PageForm action={`${LINK_PATH}/unlink`} accountId={accountId} button="Unlink account" tone="quiet" />
          ) : null}
        </>
      )}
    </Section>
  );
}
