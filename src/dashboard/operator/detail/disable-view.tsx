import type { ListedAccount } from '../../../accounts/accounts/account-directory.js';
import { MadeFor } from '../../forms/made-for.js';
import { accountPath } from '../account-path.js';
import { AccountFacts } from './account-facts.js';

interface DisableViewProps {
  readonly account: ListedAccount;
  readonly operatorId: string;
}

/** Asks the operator to confirm that the account is disabled. */
export function DisableView({ account, operatorId }: DisableViewProps) {
  const { id, email } = account;
  return (
    <>
      <h1>Disable {email}?</h1>
      <p>
        This signs the account out everywhere. Its API keys are refused at once, and its running streams end within two
        seconds. You can enable the account again: its keys then work again, and its sessions stay ended.
      </p>
      <AccountFacts account={account} />
      <form method="post" action={accountPath(id, 'disable')} class="actions">
        <MadeFor accountId={operatorId} />
        <button class="danger">Disable</button>
        <a href={accountPath(id)}>Cancel</a>
      </form>
    </>
  );
}
