import type { FormProblems } from '../../forms/form-problems.js';
import { PageForm } from '../../forms/page-form.js';
import { ACCOUNTS_PATH } from '../account-path.js';
import { ROLES } from '../listed-account.js';
import { INVITE_PATH } from './invitation-path.js';

/** How long an invitation is valid, by the number of days. */
export const VALIDITIES = { '1': '1 day', '7': '7 days', '30': '30 days' } as const;

export interface InviteViewProps {
  readonly operatorId: string;
  /** The names of the tiers of the configuration. */
  readonly tiers: readonly string[];
  readonly defaultTier: string;
  readonly email?: string;
  readonly tier?: string | undefined;
  readonly role?: string | undefined;
  readonly days?: string | undefined;
  readonly problems?: FormProblems;
}

/** The form that invites somebody to create an account. */
export function InviteView(props: InviteViewProps) {
  const { operatorId, tiers, defaultTier, email, tier, role, days, problems } = props;
  return (
    <>
      <h1>Invite</h1>
      <p>
        Creates a link with which one person creates the account of this address and chooses the password. It also works
        while sign-up is closed. A new invitation replaces an earlier one for the same address.
      </p>
      <PageForm
        action={INVITE_PATH}
        accountId={operatorId}
        fields={[
          { label: 'Email', name: 'email', type: 'email', value: email, maxLength: 254, autoComplete: 'off' },
          {
            label: 'Tier',
            name: 'tier',
            type: 'select',
            options: Object.fromEntries(tiers.map((name) => [name, name])),
            value: tier ?? defaultTier,
          },
          {
            label: 'Role',
            name: 'role',
            type: 'select',
            options: ROLES,
            value: role ?? 'member',
            hint: 'Operators see all accounts and their usage, and can change them.',
          },
          { label: 'Link expires after', name: 'days', type: 'select', options: VALIDITIES, value: days ?? '7' },
        ]}
        button="Create invitation"
        cancel={ACCOUNTS_PATH}
        problems={problems}
      />
    </>
  );
}
