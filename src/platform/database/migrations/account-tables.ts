import { table, type Step } from './migration.js';

/** The tables of accounts, their keys, sessions, identities and one-time links. */
export const ACCOUNT_TABLES: readonly Step[] = [
  table(
    'accounts',
    {
      id: 'text key',
      email: 'text unique',
      password_hash: 'text',
      tier: 'text',
      created_at: 'text',
      // The time at which an operator has disabled the account.
      disabled_at: 'text?',
      role: { type: 'text', default: "'member'" },
      // The id of the operator or of the operator key that has made the account an operator.
      operator_by: 'text?',
    },
    { indexes: [{ name: 'accounts_by_time', columnNames: ['created_at', 'id', 'tier'] }, ['operator_by']] },
  ),
  table(
    'api_keys',
    {
      id: 'text key',
      account_id: 'text',
      name: 'text',
      prefix: 'text',
      hashed_key: 'text unique',
      created_at: 'text',
      expires_at: 'text?',
      last_used_at: 'text?',
      revoked_at: 'text?',
      // NULL: the key is the first of its chain of rotated keys.
      origin_id: 'text?',
      models: 'text?',
      requests_per_minute: 'integer?',
      tokens_per_day: 'integer?',
      addresses: 'text?',
      budget_micros: 'float?',
      budget_per: 'text?',
    },
    {
      indexes: [['account_id'], { name: 'api_keys_expires_at', columnNames: ['expires_at', 'id'] }],
      references: { account_id: 'accounts' },
    },
  ),
  table(
    'sessions',
    { id: 'text key', account_id: 'text', created_at: 'text', last_seen_at: 'text', expires_at: 'text' },
    { indexes: [['account_id'], ['last_seen_at'], ['expires_at']], references: { account_id: 'accounts' } },
  ),
  table(
    'account_identities',
    {
      issuer: 'text key',
      subject: 'text key',
      account_id: 'text',
      email: 'text?',
      created_at: 'text',
      last_sign_in_at: 'text',
    },
    // The unique columns are also the index for the identities of an account.
    { uniques: [['account_id', 'issuer']], references: { account_id: 'accounts' } },
  ),
  table(
    'session_identities',
    { session_id: 'text key', issuer: 'text', subject: 'text', sid: 'text?', id_token: 'text?' },
    {
      indexes: [
        ['issuer', 'subject'],
        ['issuer', 'sid'],
      ],
      references: { session_id: 'sessions' },
    },
  ),
  table('logout_tokens', { id: 'text key', expires_at: 'text' }, { indexes: [['expires_at']] }),
  // Invitations have an address, a tier and a role. Links for a new password have an account.
  table(
    'one_time_links',
    {
      id: 'text key',
      kind: 'text',
      hashed_token: 'text unique',
      email: { type: 'text', isNullable: true, isUnique: true },
      tier: 'text?',
      role: 'text?',
      account_id: { type: 'text', isNullable: true, isUnique: true },
      created_by: 'text',
      created_at: 'text',
      expires_at: 'text',
    },
    { indexes: [['expires_at']], references: { account_id: 'accounts' } },
  ),
];
