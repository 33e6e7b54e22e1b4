import type { INestApplicationContext } from '@nestjs/common';
import {
  type Account,
  AccountsService,
  ApiKeysService,
  checkBudgetPeriod,
  type KeyLimitChanges,
  type ListedApiKey,
  OperatorKeys,
  wireApiKey,
  wireOperatorKey,
  auditDay,
  AuditLog,
  wireEntry,
  type AccountState,
  AccountStates,
  type AccountWithState,
  stateOf,
} from '../../../plugin-api/core/accounts.js';
import { DAY_MS, ServiceError, csvCell } from '../../../plugin-api/core/common.js';
import { MICROS } from '../../../plugin-api/core/config.js';
import {
  type AccountUsageRow,
  USAGE_FIGURES,
  usagePeriod,
  UsageReports,
  wireAccountUsage,
} from '../../../plugin-api/core/usage.js';
import {
  createAccount,
  deleteAccount,
  prepareSingleSignOn,
  setPassword,
  updateAccount,
} from '../operations/account-operations.js';
import { accountDisabled } from '../operations/key-operations.js';
import { revokeOperatorKey } from '../operations/operator-operations.js';
import { COMMAND, command, CASCADE_FLAGS, operationCommand, type Command, type Options, jsonArray } from './command.js';

const MAX_DAYS = 36_500;
/** Removes a limit. */
const NONE = 'none';

/** The options of the commands that set the limits of a key. The value `none` removes a limit. */
const KEY_OPTIONS = {
  budget: '5',
  'budget-per': 'month|day',
  models: 'acme/*,other/one',
  'requests-per-minute': 'N',
  'tokens-per-day': 'N',
  addresses: '10.0.0.0/8,::1',
  'expires-in-days': 'D',
} as const;

type KeyOptions = Options<never, keyof typeof KEY_OPTIONS>;

/** The commands about API keys. */
export const KEY_COMMANDS: readonly Command[] = [
  command({
    name: 'key create',
    required: { email: 'E', name: 'N' },
    optional: KEY_OPTIONS,
    run: async (app, { email, name, ...options }) => {
      const [limits, expiresAt] = [keyLimitsIn(options), expiryIn(options)];
      checkBudgetPeriod(limits, null);
      const { id, disabledAt } = await accountOf(app, email);
      if (disabledAt !== null) throw accountDisabled();
      return app.get(ApiKeysService).create(id, { name, limits, expiresAt: expiresAt ?? undefined }, COMMAND);
    },
  }),
  command({
    name: 'key update',
    required: { id: 'ID' },
    optional: { name: 'N', ...KEY_OPTIONS },
    run: async (app, { id, name, ...options }) => {
      const changes = { name, limits: keyLimitsIn(options), expiresAt: expiryIn(options) };
      return shownKey(await app.get(ApiKeysService).update(id, changes, undefined, COMMAND));
    },
  }),
  command({
    name: 'key list',
    required: { email: 'E' },
    run: async (app, { email }) => {
      const keys = await app.get(ApiKeysService).list((await accountOf(app, email)).id);
      return keys.map(shownKey);
    },
  }),
  command({
    name: 'key revoke',
    required: { id: 'ID' },
    run: async (app, { id }) => ({
      id,
      revoked_at: (await app.get(ApiKeysService).revoke(id, undefined, COMMAND)).revokedAt,
    }),
  }),
];

function shownKey(key: ListedApiKey) {
  return {
    id: key.id,
    ...wireApiKey(key),
    budget: key.budgetMicros === null ? null : { amount: key.budgetMicros / MICROS, per: key.budgetPer ?? 'month' },
  };
}

/** @throws {ServiceError} `not_found` for an unknown address. */
async function accountOf(app: INestApplicationContext, email: string): Promise<Account> {
  const account = await app.get(AccountsService).findByEmail(email);
  if (account === undefined) throw new ServiceError('not_found', `There is no account "${email}".`);
  return account;
}

/** The commands about the keys of the API for operators. */
export const OPERATOR_KEY_COMMANDS: readonly Command[] = [
  command({
    name: 'operator-key create',
    required: { name: 'N', scope: 'read|write' },
    optional: { 'expires-in-days': 'D' },
    run: async (app, { name, scope, ...options }) => {
      const expiresAt = expiryIn(options) ?? undefined;
      const { key, ...created } = await app.get(OperatorKeys).create({ name, scope, expiresAt }, COMMAND);
      return { id: created.id, name: created.name, scope: created.scope, expires_at: created.expiresAt, key };
    },
  }),
  command({
    name: 'operator-key list',
    run: async (app) => (await app.get(OperatorKeys).list()).map(wireOperatorKey),
  }),
  operationCommand(revokeOperatorKey, { name: 'operator-key revoke', required: { id: 'ID' }, flags: CASCADE_FLAGS }),
];

/** Reads the limits from the options. A missing option changes nothing. @throws {ServiceError} for an invalid number. */
function keyLimitsIn(options: KeyOptions): KeyLimitChanges {
  return {
    models: listIn(options.models),
    requestsPerMinute: countIn(options, 'requests-per-minute'),
    tokensPerDay: countIn(options, 'tokens-per-day'),
    addresses: listIn(options.addresses),
    ...budgetIn(options),
  };
}

/** Reads the expiry date. `null`: no expiry. `undefined`: the option is missing. @throws {ServiceError} for an invalid number. */
function expiryIn({ 'expires-in-days': text }: Pick<KeyOptions, 'expires-in-days'>): Date | null | undefined {
  if (text === undefined) return undefined;
  if (text === NONE) return null;
  const days = Number(text);
  if (/^\d+$/.test(text) && days >= 1 && days <= MAX_DAYS) return new Date(Date.now() + days * DAY_MS);
  throw invalid(`--expires-in-days must be a whole number from 1 to ${MAX_DAYS}, or none.`);
}

function budgetIn({ budget, 'budget-per': per }: KeyOptions): Pick<KeyLimitChanges, 'budgetMicros' | 'budgetPer'> {
  if (budget === NONE) return { budgetMicros: null, budgetPer: null };
  if (per !== undefined && per !== 'day' && per !== 'month') throw invalid('--budget-per must be month or day.');
  if (budget === undefined) return { budgetPer: per };
  if (!/^\d{1,10}(?:\.\d{1,6})?$/.test(budget))
    throw invalid('--budget must be an amount, such as 5 or 0.50, or none.');
  return { budgetMicros: Math.round(Number(budget) * MICROS), budgetPer: per };
}

function listIn(text: string | undefined): readonly string[] | null | undefined {
  if (text === undefined) return undefined;
  return text === NONE ? null : text.split(',').map((item) => item.trim());
}

function countIn(options: KeyOptions, name: 'requests-per-minute' | 'tokens-per-day'): number | null | undefined {
  const text = options[name];
  if (text === undefined) return undefined;
  if (text === NONE) return null;
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text);
  throw invalid(`--${name} must be a whole number from 1, or none.`);
}

function invalid(message: string): ServiceError {
  return new ServiceError('invalid_request', message);
}

/** The commands about the audit log. */
export const AUDIT_COMMANDS: readonly Command[] = [
  command({
    name: 'audit',
    optional: { email: 'E', action: 'A', from: 'YYYY-MM-DD', to: 'YYYY-MM-DD' },
    run: async (app, { email, action, from, to }) => {
      const filter = { action, from: auditDay(from, 'from'), to: auditDay(to, 'to') };
      const accountId = email === undefined ? undefined : (await app.get(AccountsService).get(email)).id;
      return jsonArray(app.get(AuditLog).pages({ ...filter, accountId }), wireEntry);
    },
  }),
];

/** The commands that report usage. */
export const USAGE_COMMANDS: readonly Command[] = [
  command({
    name: 'usage',
    optional: { email: 'E', from: 'YYYY-MM-DD', to: 'YYYY-MM-DD', format: 'json|csv' },
    run: async (app, { email, from, to, format = 'json' }) => {
      const period = usagePeriod({ from, to }, Date.now());
      if (format !== 'json' && format !== 'csv') {
        throw new ServiceError('invalid_request', '--format must be json or csv.');
      }
      const accounts = app.get(AccountsService);
      const account = email === undefined ? undefined : await accountOf(app, email);
      const pages = app.get(UsageReports).pages(period.from, period.to, account?.id);
      const lines = linesOf(pages, accounts);
      return format === 'json' ? jsonArray(lines, (line) => line) : csv(lines);
    },
  }),
];

const COLUMNS = ['day', 'account_id', 'email', 'model', 'key_id', 'key_prefix', ...USAGE_FIGURES] as const;

type Line = Readonly<Record<(typeof COLUMNS)[number], string | number | null>>;

type Pages<T> = AsyncIterable<readonly T[]>;

async function* linesOf(pages: Pages<AccountUsageRow>, accounts: AccountsService): Pages<Line> {
  for await (const rows of pages) {
    const emails = await accounts.emailsOf([...new Set(rows.map(({ accountId }) => accountId))]);
    yield rows.map((row) => wireAccountUsage(row, emails.get(row.accountId)));
  }
}

/** Returns CSV (RFC 4180) in pieces. */
async function* csv(pages: Pages<Line>): AsyncIterable<string> {
  yield COLUMNS.join(',');
  for await (const lines of pages) {
    for (const line of lines) yield `\r\n${COLUMNS.map((column) => csvCell(line[column])).join(',')}`;
  }
}

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
