import type { INestApplicationContext } from '@nestjs/common';
import type { Account } from '../../../accounts/account/account.entity.js';
import { AccountsService } from '../../../accounts/accounts/accounts.service.js';
import { ApiKeyUpdates } from '../../../accounts/api-keys/api-key-updates.js';
import { ApiKeysService, wireApiKey, type ListedApiKey } from '../../../accounts/api-keys/api-keys.service.js';
import { checkBudgetPeriod } from '../../../accounts/api-keys/key-limits.js';
import { OperatorKeys, wireOperatorKey } from '../../../accounts/operator-keys/operator-keys.service.js';
import { ServiceError } from '../../../platform/common/service-error.js';
import { MICROS } from '../../../platform/config/limits/budget.js';
import { COMMAND, command, type Command } from './command.js';
import { expiryIn, KEY_OPTIONS, keyLimitsIn, MADE_FLAGS, madeIn } from './key-options.js';

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
      if (disabledAt !== null) throw new ServiceError('invalid_request', 'The account is disabled. Enable it first.');
      return app.get(ApiKeysService).create(id, { name, limits, expiresAt: expiresAt ?? undefined }, COMMAND);
    },
  }),
  command({
    name: 'key update',
    required: { id: 'ID' },
    optional: { name: 'N', ...KEY_OPTIONS },
    run: async (app, { id, name, ...options }) => {
      const changes = { name, limits: keyLimitsIn(options), expiresAt: expiryIn(options) };
      return shownKey(await app.get(ApiKeyUpdates).update(id, changes, undefined, COMMAND));
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
  command({
    name: 'operator-key revoke',
    required: { id: 'ID' },
    flags: MADE_FLAGS,
    run: async (app, { id, ...options }) => {
      const { revokedAt } = await app.get(OperatorKeys).revoke(id, COMMAND, madeIn(options));
      return { id, revoked_at: revokedAt };
    },
  }),
];
