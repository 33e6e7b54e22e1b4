/** The key columns of the daily sums, for a record `r`. A missing key or currency becomes an empty text. */
const KEYS = {
  account_id: 'r.account_id',
  day: 'SUBSTR(r.started_at, 1, 10)',
  model: 'r.model',
  key_id: `COALESCE(r.key_id, '')`,
  credential: 'r.credential',
  currency: `COALESCE(r.currency, '')`,
};
const PREFIX = `COALESCE(r.key_prefix, '')`;

/**
 * Whether a record `r` failed before its first text. Such a stream has no tokens and no cost unless its provider has reported them.
 * An interrupted stream is not among them: nobody knows what its provider has sent.
 */
const FAILED_EARLY = `r.first_text_at IS NULL AND r.outcome IN ('upstream_failed', 'rejected', 'timed_out', 'drained', 'failed')`;
const HAS_NO_TOKENS = 'r.prompt_tokens IS NULL AND r.completion_tokens IS NULL';

/** The amount that a record `r` adds to each sum. */
export const RECORD_FIGURES = {
  requests: '1',
  completed: `CASE WHEN r.outcome = 'completed' THEN 1 ELSE 0 END`,
  errors: `CASE WHEN r.outcome IN ('upstream_failed', 'rejected', 'timed_out', 'drained', 'failed', 'interrupted') THEN 1 ELSE 0 END`,
  // As floating-point numbers, sums are exact up to 2^53 and never overflow.
  prompt_tokens: 'CAST(COALESCE(r.prompt_tokens, 0) AS double precision)',
  completion_tokens: 'CAST(COALESCE(r.completion_tokens, 0) AS double precision)',
  tokens_unknown: `CASE WHEN ${FAILED_EARLY} THEN 0
    WHEN r.prompt_tokens IS NULL OR r.completion_tokens IS NULL THEN 1 ELSE 0 END`,
  tokens_estimated: `CASE
    WHEN r.prompt_tokens IS NOT NULL AND r.prompt_tokens_source <> 'reported' THEN 1
    WHEN r.completion_tokens IS NOT NULL AND r.completion_tokens_source <> 'reported' THEN 1
    ELSE 0 END`,
  cost_micros: 'COALESCE(r.cost_micros, 0)',
  without_cost: `CASE WHEN r.cost_micros IS NOT NULL OR (${FAILED_EARLY} AND ${HAS_NO_TOKENS}) THEN 0 ELSE 1 END`,
};

const USAGE_DAY_KEYS = Object.keys(KEYS);
const USAGE_DAY_FIGURES = Object.keys(RECORD_FIGURES);

const COLUMNS = [...USAGE_DAY_KEYS, 'key_prefix', ...USAGE_DAY_FIGURES].join(', ');
const KEY_NUMBERS = USAGE_DAY_KEYS.map((_, index) => index + 1).join(', ');

/** The triggers that keep the sums up to date. */
export const CREATE_TRIGGERS = {
  sqlite: [
    `CREATE TRIGGER usage_days_of_new AFTER INSERT ON usage_records BEGIN ${addRow('NEW', 1)} END`,
    `CREATE TRIGGER usage_days_of_changed AFTER UPDATE ON usage_records BEGIN ${addRow('OLD', -1)} ${addRow('NEW', 1)} END`,
  ],
  postgres: [
    `CREATE FUNCTION usage_days_of_new() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
      ${insertSums('added', '1')} ${onConflict('GREATEST')};
      RETURN NULL;
    END $body$`,
    // An upsert runs this trigger even if it updates no row.
    `CREATE FUNCTION usage_days_of_changed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
      IF NOT EXISTS (SELECT FROM after_change) THEN RETURN NULL; END IF;
      ${insertSums('(SELECT -1 AS sign, * FROM before_change UNION ALL SELECT 1, * FROM after_change)', 'r.sign')}
      ${onConflict('GREATEST')};
      RETURN NULL;
    END $body$`,
    `CREATE TRIGGER usage_days_of_new AFTER INSERT ON usage_records
      REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION usage_days_of_new()`,
    `CREATE TRIGGER usage_days_of_changed AFTER UPDATE ON usage_records
      REFERENCING OLD TABLE AS before_change NEW TABLE AS after_change
      FOR EACH STATEMENT EXECUTE FUNCTION usage_days_of_changed()`,
  ],
};

/**
 * Returns a statement that adds the sums of the records to the daily sums.
 *
 * @param records a table expression.
 * @param sign an SQL expression: 1 adds a record, -1 subtracts it.
 */
export function insertSums(records: string, sign: string): string {
  const sums = Object.values(RECORD_FIGURES).map((figure) => `SUM(${sign} * (${figure}))`);
  const selected = [...Object.values(KEYS), `MAX(${PREFIX})`, ...sums].join(', ');
  // All replicas lock the rows in the order of the keys, so that the replicas cannot deadlock.
  return `INSERT INTO usage_days (${COLUMNS}) SELECT ${selected} FROM ${records} AS r
    GROUP BY ${KEY_NUMBERS} ORDER BY ${KEY_NUMBERS}`;
}

/**
 * Returns a statement that adds one record to the daily sums, or subtracts it.
 *
 * @param row the name of the record in a trigger of SQLite.
 */
function addRow(row: 'NEW' | 'OLD', sign: 1 | -1): string {
  const figures = Object.values(RECORD_FIGURES).map((figure) => `${sign} * (${figure})`);
  const values = [...Object.values(KEYS), PREFIX, ...figures].join(', ').replaceAll(/\br\./g, `${row}.`);
  return `INSERT INTO usage_days (${COLUMNS}) VALUES (${values}) ${onConflict('MAX')};`;
}

function onConflict(greatest: 'MAX' | 'GREATEST'): string {
  const sums = USAGE_DAY_FIGURES.map((name) => `${name} = usage_days.${name} + excluded.${name}`);
  const prefix = `key_prefix = ${greatest}(usage_days.key_prefix, excluded.key_prefix)`;
  return `ON CONFLICT (${USAGE_DAY_KEYS.join(', ')}) DO UPDATE SET ${[prefix, ...sums].join(', ')}`;
}
