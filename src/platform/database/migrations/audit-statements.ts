import { auditTriggers, differs, type Audited } from './audit-triggers.js';

const KEY_COLUMNS = [
  'name',
  'expires_at',
  'models',
  'requests_per_minute',
  'tokens_per_day',
  'addresses',
  'budget_micros',
  'budget_per',
] as const;

const OF_ACCOUNT = { table: 'accounts', target: "'account:' || NEW.id", accountId: 'NEW.id' } as const;
const OF_OPERATOR_KEY = { table: 'operator_keys', target: "'operator-key:' || NEW.id", accountId: 'NULL' } as const;
const OF_KEY = { table: 'api_keys', target: "'key:' || NEW.id", accountId: 'NEW.account_id' } as const;

/** A change of a column, with its values. */
function changed(column: string) {
  return {
    name: column,
    event: `UPDATE OF ${column}`,
    when: differs(column),
    before: [column],
    after: [column],
  } satisfies Partial<Audited>;
}

/** The first time that is written to a column. */
function begins(column: string) {
  return {
    event: `UPDATE OF ${column}`,
    when: `OLD.${column} IS NULL AND NEW.${column} IS NOT NULL`,
  } satisfies Partial<Audited>;
}

const AUDITED: readonly Audited[] = [
  { ...OF_ACCOUNT, name: 'created', event: 'INSERT', action: 'account.created', after: ['tier', 'role'] },
  { ...OF_ACCOUNT, ...changed('tier'), action: 'account.tier_changed' },
  { ...OF_ACCOUNT, ...changed('role'), action: 'account.role_changed' },
  { ...OF_ACCOUNT, name: 'disabled', ...begins('disabled_at'), action: 'account.disabled' },
  {
    ...OF_ACCOUNT,
    name: 'enabled',
    event: 'UPDATE OF disabled_at',
    when: 'OLD.disabled_at IS NOT NULL AND NEW.disabled_at IS NULL',
    action: 'account.enabled',
  },
  {
    ...OF_ACCOUNT,
    name: 'password',
    event: 'UPDATE OF password_hash',
    when: differs('password_hash'),
    action: 'account.password_changed',
  },
  {
    table: 'accounts',
    name: 'deleted',
    event: 'DELETE',
    action: 'account.deleted',
    target: "'account:' || OLD.id",
    accountId: 'OLD.id',
    before: ['tier', 'role'],
  },
  {
    ...OF_KEY,
    name: 'created',
    event: 'INSERT',
    action: 'key.created',
    after: ['prefix', 'origin_id', ...KEY_COLUMNS],
  },
  { ...OF_KEY, name: 'revoked', ...begins('revoked_at'), action: 'key.revoked' },
  {
    ...OF_KEY,
    name: 'updated',
    event: `UPDATE OF ${KEY_COLUMNS.join(', ')}`,
    when: KEY_COLUMNS.map(differs).join(' OR '),
    action: 'key.updated',
    before: KEY_COLUMNS,
    after: KEY_COLUMNS,
  },
  {
    table: 'sessions',
    name: 'created',
    event: 'INSERT',
    action: 'session.created',
    target: "'session:' || substr(NEW.id, 1, 12)",
    accountId: 'NEW.account_id',
  },
  {
    table: 'sessions',
    name: 'ended',
    event: 'DELETE',
    // Expired sessions are removed later, by no one.
    when: 'OLD.expires_at > {now}',
    action: 'session.ended',
    target: "'session:' || substr(OLD.id, 1, 12)",
    accountId: 'OLD.account_id',
  },
  {
    table: 'account_identities',
    name: 'linked',
    event: 'INSERT',
    action: 'identity.linked',
    target: "'account:' || NEW.account_id",
    accountId: 'NEW.account_id',
    after: ['issuer'],
  },
  {
    table: 'account_identities',
    name: 'unlinked',
    event: 'DELETE',
    action: 'identity.unlinked',
    target: "'account:' || OLD.account_id",
    accountId: 'OLD.account_id',
    before: ['issuer'],
  },
  {
    ...OF_OPERATOR_KEY,
    name: 'created',
    event: 'INSERT',
    action: 'operator_key.created',
    after: ['name', 'scope', 'prefix', 'expires_at'],
  },
  { ...OF_OPERATOR_KEY, name: 'revoked', ...begins('revoked_at'), action: 'operator_key.revoked' },
];

/** The one-time links of operators. A new link replaces an earlier one. */
const LINKS = [
  { kind: 'invitation', target: 'invitation', id: 'id', after: ['tier', 'role', 'expires_at'] },
  { kind: 'password_reset', target: 'account', id: 'account_id', after: ['expires_at'] },
] as const;
const LINK_CHANGES: readonly Audited[] = LINKS.flatMap(({ kind, target, id, after }): Audited[] => {
  const created = {
    table: 'one_time_links',
    when: `NEW.kind = '${kind}'`,
    action: `${kind}.created`,
    target: `'${target}:' || NEW.${id}`,
    accountId: 'NEW.account_id',
    author: "'account:' || NEW.created_by",
    after,
  };
  return [
    { ...created, name: `${kind}_created`, event: 'INSERT' },
    { ...created, name: `${kind}_replaced`, event: 'UPDATE OF hashed_token' },
    {
      table: 'one_time_links',
      name: `${kind}_ended`,
      event: 'DELETE',
      when: `OLD.kind = '${kind}' AND OLD.expires_at > {now}`,
      action: `${kind}.ended`,
      target: `'${target}:' || OLD.${id}`,
      accountId: 'OLD.account_id',
    },
  ];
});

/** The log is append-only. */
const APPEND_ONLY = {
  sqlite: [
    `CREATE TRIGGER audit_entries_append_only BEFORE UPDATE ON audit_entries
      BEGIN SELECT RAISE(ABORT, 'The audit log is append-only.'); END`,
  ],
  postgres: [
    `CREATE FUNCTION audit_entries_append_only() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
      RAISE EXCEPTION 'The audit log is append-only.';
    END $body$`,
    `CREATE TRIGGER audit_entries_append_only BEFORE UPDATE ON audit_entries
      FOR EACH STATEMENT EXECUTE FUNCTION audit_entries_append_only()`,
  ],
} as const;

/** The actions of the entries that triggers write. */
export const TRIGGERED_ACTIONS = [...new Set([...AUDITED, ...LINK_CHANGES].map(({ action }) => action))];

const TRIGGERS = auditTriggers([...AUDITED, ...LINK_CHANGES]);

export const CREATE_AUDIT_TRIGGERS = {
  sqlite: [...TRIGGERS.sqlite, ...APPEND_ONLY.sqlite],
  postgres: ['CREATE SEQUENCE audit_entries_ids', ...TRIGGERS.postgres, ...APPEND_ONLY.postgres],
};
