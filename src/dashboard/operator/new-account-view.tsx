import type { FormProblems } from '../forms/form-problems.js';
import { PageForm } from '../forms/page-form.js';
import { accountPath, ACCOUNTS_PATH } from './account-path.js';

export interface NewAccountViewProps {
  readonly operatorId: string;
  /** The names of the tiers of the configuration. */
  readonly tiers: readonly string[];
  readonly defaultTier: string;
  readonly email?: string;
  readonly tier?: string | undefined;
  readonly problems?: FormProblems;
}

/** The form for a new account. */
export function NewAccountView({ operatorId, tiers, defaultTier, email, tier, problems }: NewAccountViewProps) {
  return (
    <>
      <h1>New account</h1>
      <p>The user signs in with this address and password, and can then change the password.</p>
      <PageForm
        action={accountPath('new')}
        accountId={operatorId}
        fields={[
          { label: 'Email', name: 'email', type: 'email', value: email, maxLength: 254, autoComplete: 'off' },
          { label: 'Password', name: 'password', type: 'password', autoComplete: 'new-password' },
          {
            label: 'Tier',
            name: 'tier',
            type: 'select',
            options: Object.fromEntries(tiers.map((name) => [name, name])),
            value: tier ?? defaultTier,
          },
        ]}
        button="Create account"
        cancel={ACCOUNTS_PATH}
        problems={problems}
      />
    </>
  );
}
