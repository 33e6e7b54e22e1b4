import type { Invitation } from '../../../accounts/links/invitation.entity.js';
import { PageForm } from '../../forms/page-form.js';
import { Moment } from '../../format/times.js';
import { Table } from '../../parts/table.js';
import { ROLES } from '../listed-account.js';
import { INVITATIONS_PATH } from './invitation-path.js';

interface InvitationsSectionProps {
  readonly operatorId: string;
  readonly invitations: readonly Invitation[];
}

/** The number of invitations that the page shows without a click. */
const SHOWN_OPEN = 10;

/** The open invitations, with a button that revokes each. Shows nothing if there are none. */
export function InvitationsSection({ operatorId, invitations }: InvitationsSectionProps) {
  if (invitations.length === 0) return null;
  const revoke = ({ id }: Invitation) => (
    <PageForm
      action={`${INVITATIONS_PATH}/${id}/revoke`}
      accountId={operatorId}
      button="Revoke"
      tone="quiet"
      describedBy={`invitation-${id}`}
    />
  );
  return (
    <section aria-labelledby="invitations">
      <h2 id="invitations">Open invitations</h2>
      <details open={invitations.length <= SHOWN_OPEN}>
        <summary>{invitations.length === 1 ? '1 invitation' : `${invitations.length} invitations`}</summary>
        <Table
          caption="Open invitations"
          isCards
          rows={invitations}
          headId={({ id }) => `invitation-${id}`}
          columns={[
            { title: 'Email', cell: ({ email }) => email },
            { title: 'Tier', cell: ({ tier }) => tier },
            { title: 'Role', cell: ({ role }) => ROLES[role] },
            { title: 'Created', cell: ({ createdAt }) => <Moment at={createdAt} /> },
            { title: 'Expires', cell: ({ expiresAt }) => <Moment at={expiresAt} /> },
            { title: 'Actions', isActions: true, cell: revoke },
          ]}
        />
      </details>
    </section>
  );
}
