import { CREATE_AUDIT_TRIGGERS, DROP_AUDIT_TRIGGERS, OPERATOR_KEY_TRIGGERS } from './audit-statements.js';
import { OPERATOR_LIST_INDEXES, createIndex } from './list-indexes.js';
import { migration, onSqlite, statements, table } from './migration.js';

/**
 * The audit log. Triggers write the entries in the statement that makes a change. So a change and its entry are one transaction,
 * whichever process or version makes the change. A process names the author of a change in `audit_authors` on SQLite, and in a setting
 * of the transaction on PostgreSQL.
 */
export const CreateAuditEntries = migration(
  'CreateAuditEntries1766423000000',
  table(
    'audit_entries',
    {
      id: 'text key',
      at: 'text',
      actor: 'text',
      action: 'text',
      target: 'text',
      account_id: 'text?',
      source: 'text?',
      value_before: 'text?',
      value_after: 'text?',
    },
    {
      indexes: [
        ['at', 'id'],
        ['account_id', 'at', 'id'],
        ['action', 'at', 'id'],
      ],
    },
  ),
  onSqlite(table('audit_authors', { actor: 'text', source: 'text?' })),
  statements(CREATE_AUDIT_TRIGGERS, DROP_AUDIT_TRIGGERS),
);

/** The keys of the API for operators, and their entries in the audit log. */
export const CreateOperatorKeys = migration(
  'CreateOperatorKeys1766431000000',
  table(
    'operator_keys',
    {
      id: 'text key',
      name: 'text',
      scope: 'text',
      prefix: 'text',
      hashed_key: 'text unique',
      created_at: 'text',
      expires_at: 'text?',
      last_used_at: 'text?',
      revoked_at: 'text?',
    },
    { indexes: [['created_at', 'id']] },
  ),
  statements(OPERATOR_KEY_TRIGGERS.create, OPERATOR_KEY_TRIGGERS.drop),
);

/** The tables for operators. */
export const OPERATOR_MIGRATIONS = [
  // The sample of refused requests, and the indexes for the lists of operators. In a database with data, the indexes exist already: the
  // start builds them before the transaction of the migrations.
  migration(
    'CreateRefusedRequests1766421000000',
    table(
      'refused_requests',
      {
        id: 'text key',
        request_id: 'text',
        refused_at: 'text',
        account_id: 'text',
        credential: 'text',
        key_id: 'text?',
        key_prefix: 'text?',
        method: 'text',
        route: 'text?',
        model: 'text?',
        status: 'integer',
        error_code: 'text',
        reason: 'text?',
        message: 'text?',
        similar_count: 'integer',
      },
      {
        indexes: [
          { name: 'refused_requests_of_all', columnNames: ['refused_at', 'id'] },
          { name: 'refused_requests_by_time', columnNames: ['account_id', 'refused_at', 'id'] },
          { name: 'refused_requests_of_request_id', columnNames: ['request_id', 'refused_at', 'id'] },
        ],
      },
    ),
    statements(
      OPERATOR_LIST_INDEXES.map((index) => createIndex(index)),
      OPERATOR_LIST_INDEXES.map(({ name }) => `DROP INDEX IF EXISTS "${name}"`),
    ),
  ),
  CreateAuditEntries,
  CreateOperatorKeys,
  // The memory of the `Idempotency-Key` of the API for operators.
  migration(
    'CreateOperatorRequests1766431001000',
    table(
      'operator_requests',
      { id: 'text key', request_hash: 'text', created_id: 'text', requested_at: 'text' },
      { indexes: [['requested_at']] },
    ),
  ),
  // The positions of the audit sinks of plugins. The id is the name of the sink.
  migration(
    'CreateAuditSinks1766431002000',
    table('audit_sinks', { id: 'text key', delivered_until: 'text', leased_by: 'text', leased_until: 'text' }),
  ),
  // The outbox of webhooks: one row for each event and receiver. The index finds the API keys that expire soon.
  migration(
    'CreateWebhookDeliveries1766432000000',
    table(
      'webhook_deliveries',
      {
        // The id of the event and the name of the webhook, so that each event reaches each receiver once.
        id: 'text key',
        event_id: 'text',
        webhook: 'text',
        type: 'text',
        account_id: 'text',
        key_id: 'text?',
        data: 'text',
        created_at: 'text',
        attempts: { type: 'integer', default: 0 },
        // NULL: the event is delivered, or the service has given up.
        next_attempt_at: 'text?',
        give_up_at: 'text',
        last_attempt_at: 'text?',
        last_error: 'text?',
        delivered_at: 'text?',
      },
      {
        indexes: [
          ['webhook', 'next_attempt_at'],
          ['created_at', 'id'],
        ],
      },
    ),
    statements(['CREATE INDEX api_keys_expires_at ON api_keys (expires_at, id)'], ['DROP INDEX api_keys_expires_at']),
  ),
];
