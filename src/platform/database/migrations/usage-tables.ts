import { statements, table, type Step } from './migration.js';
import { CREATE_TRIGGERS } from './usage-day-statements.js';

/**
 * The percentage of a page of the daily sums that is filled. Every batch of records updates the rows of its day. In a page with free
 * space, PostgreSQL can store the new version of a row in the same page.
 */
const FILL_FACTOR_PERCENT = 70;

/** The statements of the trigger that removes the hold of a recorded stream. */
const HOLD_TRIGGER = 'budget_holds_of_recorded';
const CREATE_HOLD_TRIGGER = {
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
};

/**
 * The tables of the ledger and of budgets.
 *
 * In the indexes of lists by time and of receipts, the position of an entry comes first, then the columns of the filters: a statement
 * can skip the entries that do not pass a filter without reading their rows. PostgreSQL limits an index row to about 2,700 bytes. The
 * ledger limits its texts so that three long texts fit.
 */
export const USAGE_TABLES: readonly Step[] = [
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
      prompt_tokens: 'bigint?',
      prompt_tokens_source: 'text',
      completion_tokens: 'bigint?',
      completion_tokens_source: 'text',
      input_price: 'float?',
      output_price: 'float?',
      cost_micros: 'float?',
      currency: 'text?',
      cached_prompt_tokens: 'bigint?',
      cache_write_prompt_tokens: 'bigint?',
      reasoning_completion_tokens: 'bigint?',
      cached_input_price: 'float?',
      cache_write_input_price: 'float?',
      reasoning_output_price: 'float?',
      attempt_details: 'text?',
      detached: { type: 'integer', default: 0 },
      tool_calls: 'integer?',
      surface: 'text?',
    },
    {
      indexes: [
        index('usage_records_by_time', 'account_id, started_at, id, model, key_id, credential'),
        index('usage_records_by_request', 'account_id, request_id, id'),
        index('usage_records_of_all', 'started_at, id, account_id, model, key_id, outcome'),
        index('usage_records_of_request_id', 'request_id, started_at, id'),
      ],
    },
  ),
  // The streams that run. What a killed process leaves here becomes a record of an interrupted stream.
  table('usage_intents', { id: 'text key', writer_id: 'text', streams: 'text' }),
  // The processes that write records. `lock_key` is the key of the lock that a process holds while it is connected.
  table('usage_writers', { id: 'text key', host: 'text', pid: 'integer', seen_at: 'float', lock_key: 'integer?' }),
  // Records that the database refuses because of their values. An operator can restore a record from its JSON.
  table('usage_dead_letters', {
    id: 'text key',
    request_id: 'text?',
    set_aside_at: 'text',
    reason: 'text',
    record: 'text',
  }),
  // The daily sums of the records, so that a report does not have to read the records. Triggers update the sums in the statement that
  // writes a record, so each record is counted exactly once.
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
  statements({
    sqlite: CREATE_TRIGGERS.sqlite,
    postgres: [`ALTER TABLE usage_days SET (fillfactor = ${FILL_FACTOR_PERCENT})`, ...CREATE_TRIGGERS.postgres],
  }),
  // The money that running streams have reserved from budgets. The id of a hold is the id of the record that the stream will get. A
  // trigger removes the hold in the statement that writes the record, so a stream counts either as reserved or as spent. The holds of a
  // process that is no longer among the writers are removed together.
  table(
    'budget_holds',
    { id: 'text key', account_id: 'text', key_id: 'text?', micros: 'float', writer_id: 'text' },
    { indexes: [['account_id']] },
  ),
  statements(CREATE_HOLD_TRIGGER),
];

function index(name: string, columns: string): { readonly name: string; readonly columnNames: string[] } {
  return { name, columnNames: columns.split(', ') };
}
