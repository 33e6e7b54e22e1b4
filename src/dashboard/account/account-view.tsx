import type { VerifiedSession } from '../../accounts/sessions/sessions.service.js';
import type { FormProblems } from '../forms/form-problems.js';
import { PageForm } from '../forms/page-form.js';
import { Facts } from '../parts/facts.js';
import { Notice } from '../parts/notice.js';
import { PASSWORD_HINT } from '../sign-in/credentials-view.js';
import { limitsOf } from '../format/tier-limits.js';

interface AccountViewProps {
  readonly account: VerifiedSession['account'];
  /** The report right after a password change. */
  readonly done?: string | undefined;
  /** Whether the box to revoke the keys is checked. */
  readonly revokeKeys?: boolean;
  readonly problems?: FormProblems;
}

export function AccountView({ account, done, revokeKeys = false, problems }: AccountViewProps) {
  const { id, email, tier } = account;
  return (
    <>
      <h1>Account</h1>
      <Notice tone="good">{done}</Notice>
      <section>
        <Facts facts={[['Email', email], ['Tier', tier.name], ...limitsOf(tier)]} />
      </section>
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
    </>
  );
}
