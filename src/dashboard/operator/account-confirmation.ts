import type { Account } from '../../accounts/account/account.entity.js';
import type { PageFormProps } from '../forms/page-form.js';
import type { Page } from '../page.js';
import { Confirmation } from '../parts/confirmation.js';
import { accountPath } from './account-path.js';
import { accountFacts } from './listed-account.js';

interface AccountChange extends Pick<PageFormProps, 'fields' | 'button' | 'tone'> {
  /** The last part of the path, such as `disable`. */
  readonly action: string;
  readonly title: string;
  /** What the change does. */
  readonly children: string;
}

/** The page that asks an operator to confirm a change of an account. */
export function accountConfirmation(operatorId: string, account: Account, change: AccountChange): Page {
  const { action, title, ...texts } = change;
  const content = Confirmation({
    ...texts,
    title: `${title}?`,
    facts: accountFacts(account),
    action: accountPath(account.id, action),
    accountId: operatorId,
    cancel: accountPath(account.id),
  });
  return { title, section: 'accounts', width: 'narrow', content };
}
