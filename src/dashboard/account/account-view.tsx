import type { VerifiedSession } from '../../accounts/sessions.service.js';
import type { TierConfig } from '../../config/config.js';
import { Field } from '../forms/field.js';
import type { FormProblems } from '../forms/field-problems.js';
import { Done, FormFailure } from '../forms/notice.js';

interface AccountViewProps {
  readonly account: VerifiedSession['account'];
  readonly changed: boolean;
  readonly problems?: FormProblems;
}

export function AccountView({ account, changed, problems }: AccountViewProps) {
  return (
    <>
      <h1>Account</h1>
      {changed ? <Done>The password is changed. Wherever else you were signed in, you are not any more.</Done> : null}
      <section>
        <dl class="facts">
          <dt>Email</dt>
          <dd>{account.email}</dd>
          <TierFacts tier={account.tier} />
        </dl>
      </section>
      <form method="post" action="/settings/account/password">
        <h2>Change the password</h2>
        <p>It ends your sessions in all other browsers. API keys go on.</p>
        <FormFailure problems={problems} fields={['current_password', 'new_password']} />
        {/* For password managers, which want to know whose password it is. */}
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
          hint="At least 8 characters. A few words make a good one."
          problems={problems}
        />
        <button>Change password</button>
      </form>
    </>
  );
}

function TierFacts({ tier }: { readonly tier: TierConfig }) {
  const limits: [string, number | undefined][] = [
    ['Requests a minute', tier.requestsPerMinute],
    ['Answers at once', tier.concurrentStreams],
    ['Tokens of one answer', tier.maxTokens],
    ['Tokens a day', tier.tokensPerDay],
  ];
  return (
    <>
      <dt>Tier</dt>
      <dd>{tier.name}</dd>
      {limits.map(([label, limit]) => (
        <>
          <dt>{label}</dt>
          <dd>{limit === undefined ? 'No limit' : limit.toLocaleString('en')}</dd>
        </>
      ))}
    </>
  );
}
