import { wireKeyTimes } from '../accounts/credentials/wire-key.js';
import { OperatorKeys, type ListedOperatorKey } from '../accounts/operator-keys/operator-keys.service.js';
import { COMMAND } from './command-author.js';
import { command, type Command } from './command.js';
import { expiryIn } from './key-options.js';

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
    run: async (app) => (await app.get(OperatorKeys).list()).map(shown),
  }),
  command({
    name: 'operator-key revoke',
    required: { id: 'ID' },
    run: async (app, { id }) => {
      const { revokedAt } = await app.get(OperatorKeys).revoke(id, COMMAND);
      return { id, revoked_at: revokedAt };
    },
  }),
];

function shown(key: ListedOperatorKey) {
  return {
    id: key.id,
    name: key.name,
    scope: key.scope,
    ...wireKeyTimes(key),
  };
}
