import type { INestApplicationContext } from '@nestjs/common';
import type { Account } from '../accounts/account/account.entity.js';
import { AccountsService } from '../accounts/accounts/accounts.service.js';
import { ApiKeyUpdates } from '../accounts/api-keys/api-key-updates.js';
import { ApiKeysService, type ListedApiKey } from '../accounts/api-keys/api-keys.service.js';
import { checkBudgetPeriod } from '../accounts/api-keys/limits/key-limit-check.js';
import { wireKeyTimes } from '../accounts/credentials/wire-key.js';
import { ServiceError } from '../common/service-error.js';
import { MICROS } from '../config/limits/budget.js';
import { COMMAND } from './command-author.js';
import { command, type Command } from './command.js';
import { expiryIn, KEY_OPTIONS, keyLimitsIn } from './key-options.js';

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
    name: key.name,
    ...wireKeyTimes(key),
    models: key.models,
    requests_per_minute: key.requestsPerMinute,
    tokens_per_day: key.tokensPerDay,
    addresses: key.addresses,
    budget: key.budgetMicros === null ? null : { amount: key.budgetMicros / MICROS, per: key.budgetPer ?? 'month' },
  };
}

async function accountOf(app: INestApplicationContext, email: string): Promise<Account> {
  const account = await app.get(AccountsService).findByEmail(email);
  if (account === undefined) throw new ServiceError('not_found', `There is no account "${email}".`);
  return account;
}
