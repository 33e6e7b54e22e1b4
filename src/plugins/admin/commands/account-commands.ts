import {
  type Account,
  type AccountState,
  AccountStates,
  type AccountWithState,
  stateOf,
} from '../../../plugin-api/core/accounts.js';
import {
  createAccount,
  deleteAccount,
  prepareSingleSignOn,
  setPassword,
  updateAccount,
} from '../operations/account-operations.js';
import { command, CASCADE_FLAGS, operationCommand, type Command, type Options } from './command.js';
import { jsonArray } from './printed-result.js';

const required = { email: 'E' } as const;

/** The commands about accounts. */
export const ACCOUNT_COMMANDS: readonly Command[] = [
  operationCommand(createAccount, {
    ...{ name: 'account create', required, optional: { tier: 'T' } },
    createsDatabase: true,
    setsPassword: true,
    shows: shown,
  }),
  operationCommand(setPassword, {
    ...{ name: 'account password', required, flags: ['revoke-keys'] },
    setsPassword: true,
    shows: withRevokedKeys,
  }),
  operationCommand(prepareSingleSignOn, {
    ...{ name: 'account single-sign-on', required, flags: ['revoke-keys'] },
    precondition: 'Set OIDC_ISSUER first, because nobody could sign in to the account.',
    shows: withRevokedKeys,
  }),
  operationCommand(updateAccount, { name: 'account tier', required: { ...required, tier: 'T' }, shows: shown }),
  operationCommand(updateAccount, {
    ...{ name: 'account role', required: { ...required, role: 'R' }, flags: CASCADE_FLAGS },
    shows: ({ id, email, role }) => ({ id, email, role }),
  }),
  operationCommand(updateAccount, {
    ...{ name: 'account disable', required, flags: CASCADE_FLAGS },
    sets: { disabled: true },
    shows: (account) => withState({ account, state: stateOf(account) }),
  }),
  operationCommand(updateAccount, {
    ...{ name: 'account enable', required },
    sets: { disabled: false },
    shows: (account) => withState({ account, state: stateOf(account) }),
  }),
  operationCommand(deleteAccount, { name: 'account delete', required, flags: CASCADE_FLAGS, shows: withState }),
  command({
    name: 'account list',
    run: (app) => Promise.resolve(jsonArray(app.get(AccountStates).pages(), shownInList)),
  }),
];

function shown({ id, email, tier }: Pick<Account, 'id' | 'email' | 'tier'>) {
  return { id, email, tier };
}

interface ChangedState {
  readonly account: Pick<Account, 'id' | 'email'>;
  readonly state: AccountState;
}

function withState({ account: { id, email }, state }: ChangedState) {
  return { id, email, state };
}

function shownInList({ account, state }: AccountWithState) {
  return { ...shown(account), role: account.role, state, created_at: account.createdAt };
}

interface ChangedSignIn {
  readonly account: Account;
  readonly revokedKeys: number;
}

function withRevokedKeys({ account, revokedKeys }: ChangedSignIn, options: Options) {
  return { ...shown(account), ...('revoke-keys' in options && { revoked_keys: revokedKeys }) };
}
