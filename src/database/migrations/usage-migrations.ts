import { FIRST_LIST_INDEXES, createIndex } from './list-indexes.js';
import { addColumns, migration, statements, table } from './migration.js';
import { CREATE_TRIGGERS, DROP_TRIGGERS, FILL } from './usage-day-statements.js';

/** How long a migration waits for the lock on a table. All other statements on the table wait behind the migration. */
const LOCK_TIMEOUT_MS = 10_000;

/**
 * The percentage of a page of the daily sums that is filled. Every batch of records updates the rows of its day. In a page with free
 * space, PostgreSQL can store the new version of a row in the same page.
 */
const FILL_FACTOR_PERCENT = 70;

/** The columns of the tokens by kind, their prices and the single attempts. */
export const TOKEN_KIND_COLUMNS = {
  cached_prompt_tokens: 'bigint',
  cache_write_prompt_tokens: 'bigint',
  reasoning_completion_tokens: 'bigint',
  cached_input_price: 'double precision',
  cache_write_input_price: 'double precision',
  reasoning_output_price: 'double precision',
  attempt_details: 'text',
};

/**
 * Changes the token counts of a record to 64 bits.
 *
 * PostgreSQL rewrites the table once for both columns. This takes a few seconds per million records, and blocks all reads
 * and writes of the records. It is the last step of its transaction, so that the lock is held only for this time. Replicas
 * of the previous version keep their records in memory meanwhile, and write them to the new columns afterwards.
 *
 * SQLite stores up to 64 bits in every integer column.
 */
export const WidenUsageTokens = migration(
  'WidenUsageTokens1765200002000',
  statements(tokensAre('bigint'), tokensAre('integer')),
);

function tokensAre(type: string) {
  return {
    sqlite: [],
    postgres: [
      `SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`,
      `ALTER TABLE usage_records ALTER COLUMN prompt_tokens TYPE ${type}, ALTER COLUMN completion_tokens TYPE ${type}`,
    ],
  };
}

/** The statements of the trigger that removes the hold of a recorded stream. */
const HOLD_TRIGGER = 'budget_holds_of_recorded';
const HOLD_STATEMENTS = {
  create: {
    sqlite: [
      `CREATE TRIGGER ${HOLD_TRIGGER} AFTER INSERT ON usage_records BEGIN DELETE FROM budget_holds WHERE id = NEW.id; END`,
    ],
    postgres: [
      `CREATE FUNCTION ${HOLD_TRIGGER}() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
      DELETE FROM budget_holds WHERE id IN (SELECT id FROM added);
      RETURN NULL;
    END $body$`,
      `CREATE TRIGGER ${HOLD_TRIGGER} AFTER INSERT ON usage_records
      REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION ${HOLD_TRIGGER}()`,
    ],
  },
  drop: {
    sqlite: [`DROP TRIGGER ${HOLD_TRIGGER}`],
    postgres: [`DROP TRIGGER ${HOLD_TRIGGER} ON usage_records`, `DROP FUNCTION ${HOLD_TRIGGER}()`],
  },
};

const FEED_ENTRIES = 'INSERT INTO usage_feed_entries (feed, record_id, changes)';
const CHANGED_AGAIN = 'ON CONFLICT (feed, record_id) DO UPDATE SET changes = usage_feed_entries.changes + 1';
const FEED_STATEMENTS = {
  create: {
    sqlite: ['INSERT', 'UPDATE'].map(
      (event) => `CREATE TRIGGER usage_feeds_${event.toLowerCase()} AFTER ${event} ON usage_records BEGIN
      ${FEED_ENTRIES} SELECT name, NEW.id, 0 FROM usage_feeds WHERE true ${CHANGED_AGAIN}; END`,
    ),
    postgres: [
      `CREATE FUNCTION usage_feeds_changed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
      ${FEED_ENTRIES} SELECT name, changed.id, 0 FROM usage_feeds CROSS JOIN changed ORDER BY name, changed.id ${CHANGED_AGAIN};
      RETURN NULL;
    END $body$`,
      ...['INSERT', 'UPDATE'].map(
        (event) => `CREATE TRIGGER usage_feeds_${event.toLowerCase()} AFTER ${event} ON usage_records
        REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION usage_feeds_changed()`,
      ),
    ],
  },
  drop: {
    sqlite: ['DROP TRIGGER usage_feeds_update', 'DROP TRIGGER usage_feeds_insert'],
    postgres: [
      'DROP TRIGGER usage_feeds_update ON usage_records',
      'DROP TRIGGER usage_feeds_insert ON usage_records',
      'DROP FUNCTION usage_feeds_changed()',
    ],
  },
};

/** The tables of the ledger, of budgets and of usage feeds. */
export const USAGE_MIGRATIONS = [
  migration(
    'CreateUsage1763700000000',
    table(
      'usage_records',
      {
        id: 'text key',
        request_id: 'text',
        account_id: 'text',
        credential: 'text',
        key_id: 'text?',
        key_prefix: 'text?',
        model: 'text',
        upstream: 'text?',
        attempts: 'integer',
        started_at: 'text',
        first_text_at: 'text?',
        ended_at: 'text?',
        outcome: 'text',
        error_code: 'text?',
        finish_reason: 'text?',
        prompt_tokens: 'integer?',
        prompt_tokens_source: 'text',
        completion_tokens: 'integer?',
        completion_tokens_source: 'text',
        input_price: 'float?',
        output_price: 'float?',
        cost_micros: 'float?',
        currency: 'text?',
      },
      { indexes: [['account_id', 'started_at']] },
    ),
    table('usage_openings', { id: 'text key', writer_id: 'text', streams: 'text' }),
    table('usage_writers', { id: 'text key', host: 'text', pid: 'integer', seen_at: 'float' }),
  ),
  // The daily sums of the records, so that a report does not have to read the records. Triggers update the sums in the statement that
  // writes a record. Each record is counted exactly once, even if a replica of the previous version writes it during a rollout.
  //
  // The migration adds up the existing records, in a few seconds per million. On PostgreSQL, other replicas can still read the records
  // meanwhile, and keep new records in memory: the triggers block writes to the records until the sums are complete.
  migration(
    'CreateUsageDays1765200000000',
    table(
      'usage_days',
      {
        account_id: 'text key',
        day: 'text key',
        model: 'text key',
        key_id: 'text key',
        credential: 'text key',
        currency: 'text key',
        key_prefix: 'text',
        requests: 'bigint',
        completed: 'bigint',
        errors: 'bigint',
        tokens_unknown: 'bigint',
        tokens_estimated: 'bigint',
        without_cost: 'bigint',
        // Both engines store whole numbers up to 2^53 exactly in this column type, and a sum never overflows.
        prompt_tokens: 'float',
        completion_tokens: 'float',
        cost_micros: 'float',
      },
      // Reports on all accounts read the rows in this order.
      { withoutRowid: true, indexes: [['day', 'account_id', 'model', 'key_id', 'credential', 'currency']] },
    ),
    statements(
      {
        sqlite: [...CREATE_TRIGGERS.sqlite, FILL, 'ANALYZE usage_days'],
        postgres: [
          `ALTER TABLE usage_days SET (fillfactor = ${FILL_FACTOR_PERCENT})`,
          ...CREATE_TRIGGERS.postgres,
          FILL,
          'ANALYZE usage_days',
        ],
      },
      DROP_TRIGGERS,
    ),
  ),
  // Records that the database refuses because of their values. An operator can restore a record from its JSON.
  migration(
    'CreateUsageSetAside1765200001000',
    table('usage_set_aside', {
      id: 'text key',
      request_id: 'text?',
      set_aside_at: 'text',
      reason: 'text',
      record: 'text',
    }),
  ),
  WidenUsageTokens,
  // The new columns are empty in existing records. The index finds the record of a request, and takes a few seconds per million
  // records. On PostgreSQL, other replicas keep new records in memory meanwhile.
  migration(
    'AddTokenKinds1765300000000',
    addColumns('usage_records', TOKEN_KIND_COLUMNS),
    statements(
      ['CREATE INDEX usage_records_of_request ON usage_records (account_id, request_id)'],
      ['DROP INDEX usage_records_of_request'],
    ),
  ),
  migration('AddDetachedStreams1765400000000', addColumns('usage_records', { detached: 'integer NOT NULL DEFAULT 0' })),
  // The key of the lock that a process holds while it is connected.
  migration('AddWriterLock1765500000000', addColumns('usage_writers', { lock_key: 'integer' })),
  // The indexes for lists by time and for receipts, instead of the indexes that they replace. In a database with data, the indexes exist
  // already: the start builds them before the transaction of the migrations, because that takes long and must not lock the tables. The
  // previous version can use the new indexes.
  migration(
    'AddListIndexes1765600000000',
    statements(
      FIRST_LIST_INDEXES.flatMap((index) => [
        createIndex(index),
        ...(index.replaces ? [dropIndex(index.replaces)] : []),
      ]),
      FIRST_LIST_INDEXES.flatMap(({ name, table: of, replaces }) => [
        ...(replaces ? [createIndex({ ...replaces, table: of })] : []),
        dropIndex({ name }),
      ]),
    ),
  ),
  // The money that running streams have reserved from budgets, and the budgets of API keys. The id of a hold is the id of the record
  // that the stream will get. A trigger removes the hold in the statement that writes the record, so a stream counts either as reserved
  // or as spent, whichever process or version writes the record.
  migration(
    'CreateBudgetHolds1766412000000',
    table(
      'budget_holds',
      { id: 'text key', account_id: 'text', key_id: 'text?', micros: 'float', renewed_at: 'text' },
      { indexes: [['account_id']] },
    ),
    addColumns('api_keys', { budget_micros: 'float', budget_per: 'text' }),
    statements(HOLD_STATEMENTS.create, HOLD_STATEMENTS.drop),
  ),
  migration('AddToolCalls1766413000000', addColumns('usage_records', { tool_calls: 'integer' })),
  migration('AddSurface1766414000000', addColumns('usage_records', { surface: 'text' })),
  // The usage feeds of plugins, and what each of them has not delivered yet. A trigger adds the entries in the statement that writes a
  // record. So no record is missing, whichever process or version writes it.
  migration(
    'CreateUsageFeeds1766441000000',
    table('usage_feeds', { name: 'text key', seen_at: 'text', owner: 'text?', owned_until: 'text?' }),
    table('usage_feed_entries', { feed: 'text key', record_id: 'text key', changes: 'integer' }),
    statements(FEED_STATEMENTS.create, FEED_STATEMENTS.drop),
  ),
];

function dropIndex({ name }: { readonly name: string }): string {
  return `DROP INDEX IF EXISTS "${name}"`;
}
