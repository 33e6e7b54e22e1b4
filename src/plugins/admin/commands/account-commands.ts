import type { INestApplicationContext } from '@nestjs/common';
import type { Account } from '../../../accounts/account/account.entity.js';
import { AccountRoles } from '../../../accounts/accounts/account-roles.js';
import { AccountStates, type AccountWithState } from '../../../accounts/accounts/account-states.js';
import { AccountsService } from '../../../accounts/accounts/accounts.service.js';
import { AccountPreparation } from '../../../accounts/identities/identities.service.js';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { COMMAND, command, Misuse, type Command } from './command.js';
import { MADE_FLAGS, madeIn } from './key-options.js';
import { jsonArray } from './printed-result.js';

/** The commands about accounts. */
export const ACCOUNT_COMMANDS: readonly Command[] = [
  command({
    name: 'account create',
    required: { email: 'E' },
    optional: { tier: 'T' },
    createsDatabase: true,
    setsPassword: true,
    run: async (app, { email, password, tier }) =>
      shown(await app.get(AccountsService).create({ email, password, tier }, { author: COMMAND })),
  }),
  command({
    name: 'account password',
    required: { email: 'E' },
    flags: ['revoke-keys'],
    setsPassword: true,
    run: async (app, { email, password = '', 'revoke-keys': flag }) => {
      const revokeKeys = flag !== undefined;
      const { account, revokedKeys } = await app
        .get(AccountsService)
        .setPassword(email, password, { revokeKeys, author: COMMAND });
      return { ...shown(account), ...(revokeKeys && { revoked_keys: revokedKeys }) };
    },
  }),
  command({
    name: 'account single-sign-on',
    required: { email: 'E' },
    flags: ['revoke-keys'],
    run: async (app, { email, 'revoke-keys': flag }) => {
      const { singleSignOn } = app.get<Config>(CONFIG);
      if (singleSignOn === undefined)
        throw new Misuse('Set OIDC_ISSUER first, because nobody could sign in to the account.');
      const revokeKeys = flag !== undefined;
      const { account, revokedKeys } = await app.get(AccountPreparation).prepare(email, revokeKeys, COMMAND);
      return { ...shown(account), ...(revokeKeys && { revoked_keys: revokedKeys }) };
    },
  }),
  command({
    name: 'account tier',
    required: { email: 'E', tier: 'T' },
    run: async (app, { email, tier }) => shown(await app.get(AccountsService).setTier(email, tier, COMMAND)),
  }),
  command({
    name: 'account role',
    required: { email: 'E', role: 'R' },
    flags: MADE_FLAGS,
    run: async (app, options) => {
      const { id, email, role } = await app
        .get(AccountRoles)
        .set(options.email, options.role, COMMAND, madeIn(options));
      return { id, email, role };
    },
  }),
  command({
    name: 'account disable',
    required: { email: 'E' },
    flags: MADE_FLAGS,
    run: async (app, { email, ...options }) => withState(await states(app).disable(email, COMMAND, madeIn(options))),
  }),
  command({
    name: 'account enable',
    required: { email: 'E' },
    run: async (app, { email }) => withState(await states(app).enable(email, COMMAND)),
  }),
  command({
    name: 'account delete',
    required: { email: 'E' },
    flags: MADE_FLAGS,
    run: async (app, { email, ...options }) => withState(await states(app).delete(email, COMMAND, madeIn(options))),
  }),
  command({
    name: 'account list',
    run: (app) => Promise.resolve(jsonArray(states(app).pages(), shownInList)),
  }),
];

function states(app: INestApplicationContext): AccountStates {
  return app.get(AccountStates);
}

function withState({ account: { id, email }, state }: AccountWithState) {
  return { id, email, state };
}

function shownInList({ account, state }: AccountWithState) {
  return { ...shown(account), role: account.role, state, created_at: account.createdAt };
}

function shown({ id, email, tier }: Account) {
  return { id, email, tier };
}
