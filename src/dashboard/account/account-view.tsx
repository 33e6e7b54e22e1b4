import type { VerifiedSession } from '../../accounts/sessions/sessions.service.js';
import type { FormProblems } from '../forms/form-problems.js';
import { PageForm } from '../forms/page-form.js';
import { Facts } from '../parts/facts.js';
import { Notice } from '../parts/notice.js';
import { AccountLinkSection } from '../single-sign-on/account-link-section.js';
import type { SignInWays } from '../../auth/single-sign-on/account-link.js';
import { PASSWORD_HINT } from '../sign-in/credentials-view.js';
import { limitsOf } from '../format/tier-limits.js';

export interface AccountViewProps {
  readonly account: VerifiedSession['account'];
  readonly ways: SignInWays;
  /** The host of the issuer of single sign-on. */
  readonly issuer: string | undefined;
  /** The report right after a change. */
  readonly done?: string | undefined;
  /** Whether the box to revoke the keys is checked. */
  readonly revokeKeys?: boolean;
  readonly problems?: FormProblems;
}

export function AccountView(props: AccountViewProps) {
  const { account, ways, issuer, done } = props;
  const { email, tier } = account;
  return (
    <>
      <h1>Account</h1>
      <Notice tone="good">{done}</Notice>
      <section>
        <Facts facts={[['Email', email], ['Tier', tier.name], ...limitsOf(tier)]} />
        <p>
          <a href="/settings/activity">Activity of this account</a>
        </p>
      </section>
      {issuer === undefined ? null : <AccountLinkSection accountId={account.id} ways={ways} issuer={issuer} />}
      {ways.hasPassword ? <PasswordForm {...props} /> : null}
    </>
  );
}

function PasswordForm({ account: { id, email }, revokeKeys = false, problems }: AccountViewProps) {
  return (
    <PageForm
      action="/settings/account/password"
      heading="Change password"
      text="This signs you out in all other browsers. API keys keep working unless you revoke them here."
      accountId={id}
      username={email}
      fields={[
        { label: 'Current password', name: 'current_password', type: 'password', autoComplete: 'current-password' },
        {
          label: 'New password',
          name: 'new_password',
          type: 'password',
          autoComplete: 'new-password',
          hint: PASSWORD_HINT,
        },
        {
          label: 'Revoke all API keys',
          name: 'revoke_keys',
          type: 'checkbox',
          checked: revokeKeys,
          hint: 'Programs that use these keys lose access at once. Choose this if somebody else knows your password.',
        },
      ]}
      button="Change password"
      problems={problems}
    />
  );
}
