import type { Account, GrantedAccess } from '../../../plugin-api/core/accounts.js';
import type { PageFormProps } from '../forms/page-form.js';
import type { Page } from '../layout/layout.js';
import { confirmationPage } from '../parts/action-pages.js';
import { accountPath } from '../paths.js';
import { accountFacts } from './listed-account.js';
import { cascadeFields, GrantedAccessTree } from './granted-access.js';

/** A change of an account that an operator has to confirm. Its name is the last part of its path. */
export type ConfirmedChange = 'role' | 'password' | 'disable' | 'delete';

interface ChangeTexts extends Pick<PageFormProps, 'fields' | 'button' | 'tone'> {
  readonly title: string;
  /** What the change does. */
  readonly text: string;
}

/**
 * The page that asks an operator to confirm a change of an account.
 *
 * @param granted what the account has made as an operator, for a change that can end it.
 */
export function changeConfirmation(
  change: ConfirmedChange,
  account: Account,
  operatorId: string,
  granted: readonly GrantedAccess[] = [],
): Page {
  const { fields = [], ...texts } = textsOf(change, account);
  return confirmationPage({
    ...texts,
    fields: [...fields, ...cascadeFields(granted)],
    more: <GrantedAccessTree granted={granted} root={account.id} />,
    section: 'accounts',
    heading: `${texts.title}?`,
    facts: accountFacts(account),
    action: accountPath(account.id, change),
    accountId: operatorId,
    cancel: accountPath(account.id),
  });
}

function textsOf(change: ConfirmedChange, { email, role }: Account): ChangeTexts {
  switch (change) {
    case 'role':
      return role === 'operator'
        ? {
            title: `Make ${email} a member`,
            text: 'A member manages only its own account.',
            fields: [{ type: 'hidden', name: 'role', value: 'member' }],
            button: 'Make member',
            tone: 'danger',
          }
        : {
            title: `Make ${email} an operator`,
            text: 'An operator sees all accounts and their usage, and can change, disable and delete accounts.',
            fields: [{ type: 'hidden', name: 'role', value: 'operator' }],
            button: 'Make operator',
            tone: 'danger',
          };
    case 'password':
      return {
        title: `Reset the password of ${email}`,
        text: 'This creates a one-time link with which the user chooses a new password. The present password works until then. A new password signs the account out everywhere, and its API keys stay valid.',
        button: 'Create link',
      };
    case 'disable':
      return {
        title: `Disable ${email}`,
        text: 'This signs the account out everywhere. Its API keys are refused at once, and its running streams end within two seconds. You can enable the account again: its keys then work again, and its sessions stay ended.',
        button: 'Disable',
        tone: 'danger',
      };
    case 'delete':
      return {
        title: `Delete ${email}`,
        text: 'This deletes the account and its API keys, and ends its sessions and streams. It cannot be undone. The usage records stay.',
        button: 'Delete',
        tone: 'danger',
      };
  }
}
