import type { ListedAccount } from '../../../accounts/accounts/account-directory.js';
import { Choice } from '../../forms/choice.js';
import type { FormProblems } from '../../forms/field-problems.js';
import { MadeFor } from '../../forms/made-for.js';
import { FormFailure } from '../../forms/notice.js';
import { accountPath } from '../account-path.js';

interface ManageFormsProps {
  readonly account: ListedAccount;
  readonly operatorId: string;
  readonly tiers: readonly string[];
  readonly defaultTier: string;
  readonly problems?: FormProblems;
}

/** The forms that change the tier and the state of an account. */
export function ManageForms({ account, operatorId, tiers, defaultTier, problems }: ManageFormsProps) {
  const { id, tier, disabledAt } = account;
  const options = {
    ...(tiers.includes(tier) ? {} : { [tier]: `${tier} (not configured, uses ${defaultTier})` }),
    ...Object.fromEntries(tiers.map((name) => [name, name])),
  };
  return (
    <div>
      <FormFailure problems={problems} fields={[]} />
      <form method="post" action={accountPath(id, 'tier')} class="filter-form">
        <MadeFor accountId={operatorId} />
        <Choice label="Tier" name="tier" options={options} selected={tier} />
        <button class="quiet">Change tier</button>
      </form>
      {id === operatorId ? (
        <p class="fine">This is your own account. Another operator can disable it.</p>
      ) : disabledAt === null ? (
        <form method="get" action={accountPath(id, 'disable')}>
          <button class="quiet">Disable account</button>
        </form>
      ) : (
        <form method="post" action={accountPath(id, 'enable')}>
          <MadeFor accountId={operatorId} />
          <button class="quiet">Enable account</button>
        </form>
      )}
    </div>
  );
}
