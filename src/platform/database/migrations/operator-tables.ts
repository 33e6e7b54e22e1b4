import { CREATE_AUDIT_TRIGGERS } from './audit-statements.js';
import { onSqlite, statements, table, type Step } from './migration.js';

/** The tables for operators. */
export const OPERATOR_TABLES: readonly Step[] = [
  // The sample of refused requests.
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
  // The keys of the API for operators.
  table(
    'operator_keys',
    {
      id: 'text key',
      name: 'text',
      scope: 'text',
      // The id of the operator or of the operator key that has made the key.
      created_by: 'text?',
      prefix: 'text',
      hashed_key: 'text unique',
      created_at: 'text',
      expires_at: 'text?',
      last_used_at: 'text?',
      revoked_at: 'text?',
    },
    { indexes: [['created_at', 'id']] },
  ),
  // The memory of the `Idempotency-Key` of the API for operators.
  table(
    'operator_requests',
    { id: 'text key', request_hash: 'text', created_id: 'text', requested_at: 'text' },
    { indexes: [['requested_at']] },
  ),
  // The outbox of webhooks: one row for each event and receiver.
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
  // The audit log. Triggers write the entries in the statement that makes a change. So a change and its entry are one transaction,
  // whichever process makes the change. A process names the author of a change in `audit_authors` on SQLite, and in a setting of the
  // transaction on PostgreSQL.
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
  statements(CREATE_AUDIT_TRIGGERS),
];
