import type { FormProblems } from '../forms/form-problems.js';
import { PageForm } from '../forms/page-form.js';
import { accountPath, ACCOUNTS_PATH } from './account-path.js';

export interface NewAccountViewProps {
  readonly operatorId: string;
  /** Whether the account gets a password. Without one, its owner signs in by single sign-on. */
  readonly hasPasswords: boolean;
  /** The names of the tiers of the configuration. */
  readonly tiers: readonly string[];
  readonly defaultTier: string;
  readonly email?: string;
  readonly tier?: string | undefined;
  readonly problems?: FormProblems;
}

const PASSWORD = { label: 'Password', name: 'password', type: 'password', autoComplete: 'new-password' } as const;

/** The form for a new account. */
export function NewAccountView(props: NewAccountViewProps) {
  const { operatorId, hasPasswords, tiers, defaultTier, email, tier, problems } = props;
  return (
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
        fields={[
          { label: 'Email', name: 'email', type: 'email', value: email, maxLength: 254, autoComplete: 'off' },
          ...(hasPasswords ? [PASSWORD] : []),
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
