import {
  type Account,
  ACCOUNT_ROLES,
  AccountDirectory,
  AccountPreparation,
  AccountRoles,
  AccountsService,
  AccountStates,
  type ListedAccount,
  PasswordResets,
  SessionsService,
  stateOf,
} from '../../../plugin-api/core/accounts.js';
import { ReportSemaphore, SpendBudgets, UsageBudget, wireBudget } from '../../../plugin-api/core/usage.js';
import { RESET_PATH } from '../../../plugin-api/core/auth.js';
import {
  operation,
  withPasswords,
  type ApiInput,
  type OperationInput,
  limitIn,
  CASCADE_PARAMETERS,
  oneOf,
  pageByPosition,
  parametersIn,
  positionIn,
} from './operation.js';
import * as schema from './schemas.js';

const ACCOUNT = schema.object('AdminAccount', {
  id: schema.UUID,
  email: schema.EMAIL,
  tier: { ...schema.TEXT, description: 'The name of a tier of the configuration.' },
  role: { ...schema.TEXT, enum: ACCOUNT_ROLES },
  operator_by: {
    ...schema.MAKER,
    description:
      'The id of the operator, or of the operator key, that has made the account an operator. `null`: it is no operator, or the ' +
      'admin command or single sign-on has.',
  },
  state: { ...schema.TEXT, enum: ['active', 'disabled'] },
  created_at: schema.TIME,
});

function wireAccount(account: ListedAccount) {
  const { id, email, tier, role, operatorBy, createdAt } = account;
  const state = stateOf(account);
  return { id, email, tier, role, operator_by: operatorBy, state, created_at: createdAt.toISOString() };
}

const FILTERS = {
  email: 'The whole address. The list then has at most one account.',
  search: 'A part of the address, or a whole id.',
  state: '`active` or `disabled`.',
  tier: 'The name of a tier.',
} as const;

const listAccounts = operation({
  id: 'listAccounts',
  route: 'GET accounts',
  summary: 'Lists the accounts, newest first',
  answer: schema.page('AdminAccountPage', ACCOUNT),
  filters: FILTERS,
  async run({ get, query, operatorId }: ApiInput) {
    const { email, search, state, tier, limit, cursor } = parametersIn(query, FILTERS);
    const filter = { email, search, state: oneOf(state, 'state', ['active', 'disabled']), tier };
    const [position, most] = [positionIn(cursor), limitIn(limit)];
    const list = () => get(AccountDirectory).page(filter, position, most);
    const { accounts, next } = await get(ReportSemaphore).run(operatorId, list);
    return pageByPosition(accounts.map(wireAccount), next);
  },
});

const getAccount = operation({
  id: 'getAccount',
  route: 'GET accounts/:account_id',
  summary: 'Returns an account, with what is left of its budget',
  answer: schema.object(
    'AdminAccountWithBudget',
    { budget: schema.nullable({ type: UsageBudget, description: '`null`: the tier has no budget.' }) },
    ACCOUNT,
  ),
  async run({ get, account: reference }: ApiInput) {
    const accounts = get(AccountsService);
    const account = await accounts.get(reference);
    const budget = await get(SpendBudgets).stateOfAccount(account.id, accounts.tierOf(account));
    return { ...wireAccount(account), budget: budget === undefined ? null : wireBudget(budget) };
  },
});

const NewAccount = schema.body('NewAdminAccount', {
  email: schema.text(schema.EMAIL),
  password: schema.optional(
    schema.text({
      description: 'Without a password, the person signs in by single sign-on, or by a link for a new password.',
    }),
  ),
  tier: schema.optional(schema.text({ description: 'By default the default tier of the configuration.' })),
});

export const createAccount = operation({
  id: 'createAccount',
  route: 'POST accounts',
  summary: 'Creates an account',
  status: 201,
  body: NewAccount,
  answer: ACCOUNT,
  isIdempotent: true,
  run({ get, body: { email, password, tier }, author, once }: OperationInput<InstanceType<typeof NewAccount>>) {
    const accounts = get(AccountsService);
    return once<Account>({
      find: (id) => accounts.findById(id),
      create: (id) => accounts.create({ id, email, password, tier }, { author }),
    });
  },
  show: wireAccount,
});

const AccountChanges = schema.body(
  'AdminAccountChanges',
  {
    tier: schema.optional(schema.text()),
    role: schema.optional(schema.choice(ACCOUNT_ROLES)),
    disabled: schema.optional(
      schema.flag({ description: 'A disabled account has no sessions, and its API keys are refused.' }),
    ),
  },
  schema.body('Cascade', {
    keep_made: schema.optional(schema.flag({ default: false, description: CASCADE_PARAMETERS.keep_made })),
    end_operators: schema.optional(schema.flag({ default: false, description: CASCADE_PARAMETERS.end_operators })),
  }),
);

export const updateAccount = operation({
  id: 'updateAccount',
  route: 'PATCH accounts/:account_id',
  summary: 'Changes the tier or the role of an account, disables or enables it',
  description:
    'A missing member stays as it is. Every replica applies the change within two seconds. An operator that is disabled or becomes ' +
    'a member loses what it has made, see `keep_made`.',
  body: AccountChanges,
  answer: ACCOUNT,
  async run({ get, account, body, author, cascade }: OperationInput<InstanceType<typeof AccountChanges>>) {
    const { tier, role, disabled } = body;
    const accounts = get(AccountsService);
    const states = get(AccountStates);
    // First what can be refused.
    if (tier !== undefined) await accounts.setTier(account, tier, author);
    if (role !== undefined) await get(AccountRoles).set(account, role, author, cascade);
    if (disabled === true) await states.disable(account, author, cascade);
    if (disabled === false) await states.enable(account, author);
    return accounts.get(account);
  },
  show: wireAccount,
});

export const deleteAccount = operation({
  id: 'deleteAccount',
  route: 'DELETE accounts/:account_id',
  summary: 'Deletes an account with its API keys and sessions',
  description: 'It cannot be undone. The usage records stay. An operator loses what it has made, see `keep_made`.',
  takesCascade: true,
  run: ({ get, account, author, cascade }: OperationInput) => get(AccountStates).delete(account, author, cascade),
});

const SignInReset = schema.body('AdminSignInReset', {
  revoke_keys: schema.optional(
    schema.flag({ default: false, description: 'Also revokes all active API keys of the account.' }),
  ),
});
const NewPassword = schema.body('NewAdminPassword', { password: schema.text() }, SignInReset);
const REVOKED_KEYS = schema.object('AdminRevokedKeys', {
  revoked_keys: { type: 'integer', description: 'How many API keys were revoked.' },
});
const wireRevokedKeys = ({ revokedKeys }: { readonly revokedKeys: number }) => ({ revoked_keys: revokedKeys });

export const setPassword = operation({
  id: 'setPassword',
  route: 'PUT accounts/:account_id/password',
  summary: 'Sets the password of an account, and ends its sessions',
  condition: withPasswords,
  body: NewPassword,
  answer: REVOKED_KEYS,
  run({ get, account, body, author }: OperationInput<InstanceType<typeof NewPassword>>) {
    return get(AccountsService).setPassword(account, body.password, { revokeKeys: body.revoke_keys, author });
  },
  show: wireRevokedKeys,
});

const createPasswordReset = operation({
  id: 'createPasswordReset',
  route: 'POST accounts/:account_id/password-reset',
  summary: 'Creates a one-time link with which the user chooses a new password',
  description: 'The link is valid for 24 hours, and replaces an earlier link of the account.',
  condition: withPasswords,
  status: 201,
  answer: schema.object('AdminLink', { link: schema.LINK, expires_at: schema.TIME }),
  async run({ get, account, operatorId, author, linkTo }: ApiInput) {
    const { id } = await get(AccountsService).get(account);
    const { token, expiresAt } = await get(PasswordResets).create(id, operatorId, author);
    return { link: linkTo(`${RESET_PATH}/${token}`), expires_at: expiresAt.toISOString() };
  },
});

const revokePasswordReset = operation({
  id: 'revokePasswordReset',
  route: 'DELETE accounts/:account_id/password-reset',
  summary: 'Revokes the link for a new password, if the account has one',
  condition: withPasswords,
  async run({ get, account, author }: ApiInput) {
    const { id } = await get(AccountsService).get(account);
    await get(PasswordResets).revoke(id, author);
  },
});

export const prepareSingleSignOn = operation({
  id: 'prepareSingleSignOn',
  route: 'POST accounts/:account_id/single-sign-on',
  summary: 'Gives an account to the next person with its address by single sign-on',
  description: 'Removes the password and the identities of the account, and ends its sessions.',
  condition: ({ singleSignOn }) => singleSignOn !== undefined,
  body: SignInReset,
  answer: REVOKED_KEYS,
  run({ get, account, body, author }: OperationInput<InstanceType<typeof SignInReset>>) {
    return get(AccountPreparation).prepare(account, body.revoke_keys, author);
  },
  show: wireRevokedKeys,
});

const endSessions = operation({
  id: 'endSessions',
  route: 'DELETE accounts/:account_id/sessions',
  summary: 'Ends all sessions of an account',
  answer: schema.object('AdminEndedSessions', {
    ended: { type: 'integer', description: 'How many sessions have ended.' },
  }),
  async run({ get, account, author }: ApiInput) {
    const { id } = await get(AccountsService).get(account);
    return { ended: await get(SessionsService).endAllOf(id, author) };
  },
});

/** Accounts: their tier, their role, whether they are disabled, and how their owners sign in. */
export const ACCOUNT_OPERATIONS = [
  ...[listAccounts, getAccount, createAccount, updateAccount, deleteAccount],
  ...[setPassword, createPasswordReset, revokePasswordReset, prepareSingleSignOn, endSessions],
];
