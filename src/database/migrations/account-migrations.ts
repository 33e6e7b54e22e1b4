import { addColumns, migration, table } from './migration.js';

/** Existing accounts, and accounts that replicas of the previous version create, are members. */
export const AddAccountRole = migration(
  'AddAccountRole1765500001000',
  addColumns('accounts', { role: `text NOT NULL DEFAULT 'member'` }),
);

/** The tables of accounts, their keys, sessions, identities and one-time links. */
export const ACCOUNT_MIGRATIONS = [
  migration(
    'CreateAccountsAndApiKeys1760000000000',
    table('accounts', {
      id: 'text key',
      email: 'text unique',
      password_hash: 'text',
      tier: 'text',
      created_at: 'text',
    }),
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
      },
      { indexes: [['account_id']], references: { account_id: 'accounts' } },
    ),
  ),
  migration(
    'CreateSessions1764000000000',
    table(
      'sessions',
      { id: 'text key', account_id: 'text', created_at: 'text', last_seen_at: 'text', expires_at: 'text' },
      { indexes: [['account_id'], ['last_seen_at'], ['expires_at']], references: { account_id: 'accounts' } },
    ),
  ),
  // The time at which an operator has disabled an account. Existing accounts are active.
  migration('AddAccountState1765300001000', addColumns('accounts', { disabled_at: 'text' })),
  AddAccountRole,
  // Existing keys, and keys that replicas of the previous version create, have no limits. A key without an origin is the first of its
  // chain of rotated keys.
  migration(
    'AddKeyLimits1766411000000',
    addColumns('api_keys', {
      origin_id: 'text',
      models: 'text',
      requests_per_minute: 'integer',
      tokens_per_day: 'integer',
      addresses: 'text',
    }),
  ),
  // Replicas of the previous version do not know the tables of single sign-on, and none of their rows needs one.
  migration(
    'CreateAccountIdentities1766417000000',
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
  ),
  // Invitations, and links with which a user sets a new password.
  migration(
    'CreateAccountLinks1766421001000',
    table(
      'invitations',
      {
        id: 'text key',
        hashed_token: 'text unique',
        email: 'text unique',
        tier: 'text',
        role: 'text',
        created_by: 'text',
        created_at: 'text',
        expires_at: 'text',
      },
      { indexes: [{ name: 'invitations_by_expiry', columnNames: ['expires_at'] }] },
    ),
    table(
      'password_resets',
      {
        account_id: 'text key',
        hashed_token: 'text unique',
        created_by: 'text',
        created_at: 'text',
        expires_at: 'text',
      },
      { references: { account_id: 'accounts' } },
    ),
  ),
];
