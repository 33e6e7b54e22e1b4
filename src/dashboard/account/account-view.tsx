import type { VerifiedSession } from '../../accounts/sessions/sessions.service.js';
import type { TierConfig } from '../../config/config.js';
import { Checkbox } from '../forms/checkbox.js';
import { Field } from '../forms/field.js';
import type { FormProblems } from '../forms/field-problems.js';
import { MadeFor } from '../forms/made-for.js';
import { Done, FormFailure } from '../forms/notice.js';
import { limitsOf } from './tier-limits.js';

interface AccountViewProps {
  readonly account: VerifiedSession['account'];
  /** Set only right after a password change. */
  readonly changed?: PasswordChanged | undefined;
  /** Whether the box to revoke the keys is checked. */
  readonly revokeKeys?: boolean;
  readonly problems?: FormProblems;
}

interface PasswordChanged {
  /** The number of revoked API keys. `undefined` when the user did not ask to revoke the keys. */
  readonly revokedKeys: number | undefined;
}

export function AccountView({ account, changed, revokeKeys = false, problems }: AccountViewProps) {
  return (
    <>
      <h1>Account</h1>
      {changed === undefined ? null : <Done>{reportOf(changed)}</Done>}
      <section>
        <dl class="facts">
          <dt>Email</dt>
          <dd>{account.email}</dd>
          <TierFacts tier={account.tier} />
        </dl>
      </section>
      <form method="post" action="/settings/account/password">
        <h2>Change password</h2>
        <MadeFor accountId={account.id} />
        <p>This signs you out in all other browsers. API keys keep working unless you revoke them here.</p>
        <FormFailure problems={problems} fields={['current_password', 'new_password']} />
        {/* Tells password managers which account the password belongs to. */}
        <input hidden type="text" name="username" value={account.email} autoComplete="username" readOnly />
        <Field
          label="Current password"
          name="current_password"
          type="password"
          autoComplete="current-password"
          problems={problems}
        />
        <Field
          label="New password"
          name="new_password"
          type="password"
          autoComplete="new-password"
          hint="At least 8 characters. A few random words work well."
          problems={problems}
        />
        <Checkbox
          label="Revoke all API keys"
          name="revoke_keys"
          checked={revokeKeys}
          hint="Programs that use these keys lose access at once. Choose this if somebody else knows your password."
        />
        <button>Change password</button>
      </form>
    </>
  );
}

function reportOf({ revokedKeys }: PasswordChanged): string {
  const sessions = "Your password was changed. You've been signed out everywhere else.";
  if (revokedKeys === undefined) return sessions;
  return `${sessions} ${revokedKeys === 1 ? '1 API key was' : `${revokedKeys} API keys were`} revoked.`;
}

function TierFacts({ tier }: { readonly tier: TierConfig }) {
  return (
    <>
      <dt>Tier</dt>
      <dd>{tier.name}</dd>
      {limitsOf(tier).map(([label, limit]) => (
        <>
          <dt>{label}</dt>
          <dd>{limit}</dd>
        </>
      ))}
    </>
  );
}
