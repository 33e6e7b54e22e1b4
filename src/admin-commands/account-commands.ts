import type { INestApplicationContext } from '@nestjs/common';
import type { Account } from '../accounts/accounts/account.entity.js';
import { AccountRoles } from '../accounts/accounts/account-roles.js';
import { AccountStates, type AccountWithState } from '../accounts/accounts/account-states.js';
import { AccountsService } from '../accounts/accounts/accounts.service.js';
import { ApiKeysService } from '../accounts/api-keys/api-keys.service.js';
import { ServiceError } from '../common/service-error.js';

const DAY_MS = 86_400_000;
const MAX_DAYS = 36_500;

/** The options of a command by name, without the dashes. Required options always have a value. */
export type Options<Required extends string = string, Optional extends string = string> = {
  readonly [name in Required]: string;
} & { readonly [name in Optional]?: string };

/** One command of `npm run admin`. */
export interface Command {
  /** The name as the operator types it. */
  readonly name: string;
  /** Options by name, each with the placeholder for its value in the usage text. */
  readonly required: Readonly<Record<string, string>>;
  readonly optional: Readonly<Record<string, string>>;
  /** Options without a value. A flag on the command line has the value `true` in `options`. */
  readonly flags?: readonly string[];
  /** Whether the command may create the database: the first account can be created before the first start. */
  readonly createsDatabase?: boolean;
  /** Whether the command sets a password. `run` gets the password as the option `password`, from any kind of input. */
  readonly setsPassword?: boolean;
  /** @returns a value to print as JSON, a text to print unchanged, or the pieces of such a text. */
  run(app: INestApplicationContext, options: Options): Promise<unknown>;
}

const OF_ACCOUNT = { required: { email: 'E' }, optional: {} } as const;

/** The commands about accounts and keys. */
export const ACCOUNT_COMMANDS: readonly Command[] = [
  command({
    name: 'account create',
    required: { email: 'E' },
    optional: { tier: 'T' },
    createsDatabase: true,
    setsPassword: true,
    run: async (app, { email, password = '', tier }) =>
      shown(await app.get(AccountsService).create({ email, password, tier })),
  }),
  command({
    name: 'account password',
    required: { email: 'E' },
    optional: {},
    flags: ['revoke-keys'],
    setsPassword: true,
    run: async (app, { email, password = '', 'revoke-keys': flag }) => {
      const revokeKeys = flag !== undefined;
      const { account, revokedKeys } = await app.get(AccountsService).setPassword(email, password, { revokeKeys });
      return { ...shown(account), ...(revokeKeys && { revoked_keys: revokedKeys }) };
    },
  }),
  command({
    name: 'account tier',
    required: { email: 'E', tier: 'T' },
    optional: {},
    run: async (app, { email, tier }) => shown(await app.get(AccountsService).setTier(email, tier)),
  }),
  command({
    name: 'account role',
    required: { email: 'E', role: 'R' },
    optional: {},
    run: async (app, options) => {
      const { id, email, role } = await app.get(AccountRoles).set(options.email, options.role);
      return { id, email, role };
    },
  }),
  command({
    ...OF_ACCOUNT,
    name: 'account disable',
    run: async (app, { email }) => withState(await states(app).disable(email)),
  }),
  command({
    ...OF_ACCOUNT,
    name: 'account enable',
    run: async (app, { email }) => withState(await states(app).enable(email)),
  }),
  command({
    ...OF_ACCOUNT,
    name: 'account delete',
    run: async (app, { email }) => withState(await states(app).delete(email)),
  }),
  command({
    name: 'account list',
    required: {},
    optional: {},
    run: (app) => Promise.resolve(listOf(states(app).pages())),
  }),
  command({
    name: 'key create',
    required: { email: 'E', name: 'N' },
    optional: { 'expires-in-days': 'D' },
    run: async (app, { email, name, 'expires-in-days': days }) => {
      const expiresAt = days === undefined ? undefined : daysFromNow(days);
      const { id, disabledAt } = await accountOf(app, email);
      if (disabledAt !== null) throw new ServiceError('invalid_request', 'The account is disabled. Enable it first.');
      return app.get(ApiKeysService).create(id, { name, expiresAt });
    },
  }),
  command({
    name: 'key list',
    required: { email: 'E' },
    optional: {},
    run: async (app, { email }) => {
      const keys = await app.get(ApiKeysService).list((await accountOf(app, email)).id);
      return keys.map(({ id, name, prefix, createdAt, expiresAt, lastUsedAt, revokedAt }) => ({
        id,
        name,
        prefix,
        created_at: createdAt,
        expires_at: expiresAt,
        last_used_at: lastUsedAt,
        revoked_at: revokedAt,
      }));
    },
  }),
  command({
    name: 'key revoke',
    required: { id: 'ID' },
    optional: {},
    run: async (app, { id }) => ({ id, revoked_at: (await app.get(ApiKeysService).revoke(id)).revokedAt }),
  }),
];

function states(app: INestApplicationContext): AccountStates {
  return app.get(AccountStates);
}

/** Gives `run` the types of its options. The caller of `run` checks that the required options have a value. */
function command<R extends string, O extends string, F extends string = never>(definition: {
  readonly name: string;
  readonly required: Readonly<Record<R, string>>;
  readonly optional: Readonly<Record<O, string>>;
  readonly flags?: readonly F[];
  readonly createsDatabase?: boolean;
  readonly setsPassword?: boolean;
  run(app: INestApplicationContext, options: Options<R, O | F | 'password'>): Promise<unknown>;
}): Command {
  return definition;
}

async function accountOf(app: INestApplicationContext, email: string): Promise<Account> {
  const account = await app.get(AccountsService).findByEmail(email);
  if (account === undefined) throw new ServiceError('not_found', `There is no account "${email}".`);
  return account;
}

function withState({ account: { id, email }, state }: AccountWithState) {
  return { id, email, state };
}

/** Returns one array in pieces, because there may be many accounts. */
async function* listOf(pages: AsyncIterable<readonly AccountWithState[]>): AsyncIterable<string> {
  let before = '[';
  for await (const page of pages) {
    for (const { account, state } of page) {
      yield before + JSON.stringify({ ...shown(account), role: account.role, state, created_at: account.createdAt });
      before = ',';
    }
  }
  yield before === '[' ? '[]' : ']';
}

function shown({ id, email, tier }: Account) {
  return { id, email, tier };
}

function daysFromNow(text: string): Date {
  const days = Number(text);
  if (/^\d+$/.test(text) && days >= 1 && days <= MAX_DAYS) return new Date(Date.now() + days * DAY_MS);
  throw new ServiceError('invalid_request', `--expires-in-days must be a whole number from 1 to ${MAX_DAYS}.`);
}
