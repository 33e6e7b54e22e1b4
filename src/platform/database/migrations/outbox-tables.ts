import { statements, table, type Step } from './migration.js';

interface Source {
  readonly table: string;
  /** The column that puts the rows in the order of their delivery. */
  readonly position: string;
  readonly events: readonly ('INSERT' | 'UPDATE')[];
}

/** The tables whose rows are delivered. A record that has changed is delivered again. */
const SOURCES: readonly Source[] = [
  { table: 'usage_records', position: 'id', events: ['INSERT', 'UPDATE'] },
  { table: 'audit_entries', position: 'at', events: ['INSERT'] },
];

const ADD = 'INSERT INTO outbox_entries (subscriber, position, row_id, changes)';
const CHANGED_AGAIN = 'ON CONFLICT (subscriber, position, row_id) DO UPDATE SET changes = outbox_entries.changes + 1';

const triggerOf = (source: Source, event: string) => `outbox_${source.table}_${event.toLowerCase()}`;
const functionOf = (source: Source) => `outbox_${source.table}_changed`;
const forEachEvent = (make: (source: Source, event: string) => string) => (source: Source) =>
  source.events.map((event) => make(source, event));

const CREATE = {
  sqlite: SOURCES.flatMap(
    forEachEvent(
      (source, event) => `CREATE TRIGGER ${triggerOf(source, event)} AFTER ${event} ON ${source.table} BEGIN
      ${ADD} SELECT id, NEW.${source.position}, NEW.id, 0 FROM outbox_subscribers WHERE table_name = '${source.table}' ${CHANGED_AGAIN}; END`,
    ),
  ),
  postgres: SOURCES.flatMap((source) => [
    `CREATE FUNCTION ${functionOf(source)}() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
      ${ADD} SELECT outbox_subscribers.id, changed.${source.position}, changed.id, 0 FROM outbox_subscribers CROSS JOIN changed
        WHERE table_name = '${source.table}' ORDER BY outbox_subscribers.id, changed.id ${CHANGED_AGAIN};
      RETURN NULL;
    END $body$`,
    ...forEachEvent(
      (_, event) => `CREATE TRIGGER ${triggerOf(source, event)} AFTER ${event} ON ${source.table}
        REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION ${functionOf(source)}()`,
    )(source),
  ]),
};
const DROP = {
  sqlite: SOURCES.flatMap(forEachEvent((source, event) => `DROP TRIGGER ${triggerOf(source, event)}`)),
  postgres: SOURCES.flatMap((source) => [
    ...forEachEvent((_, event) => `DROP TRIGGER ${triggerOf(source, event)} ON ${source.table}`)(source),
    `DROP FUNCTION ${functionOf(source)}()`,
  ]),
};

/**
 * The usage feeds and audit sinks of plugins, and what each of them has not got yet. A trigger adds the entries in the statement that
 * writes a row, so no row is missing.
 */
export const OUTBOX_TABLES: readonly Step[] = [
  table('outbox_subscribers', {
    id: 'text key',
    table_name: 'text',
    seen_at: 'text',
    owner: 'text?',
    owned_until: 'text?',
    // The rows after this one that were there before the subscriber have no entries yet. NULL: all have.
    history_at: 'text?',
    history_id: 'text?',
  }),
  table('outbox_entries', { subscriber: 'text key', position: 'text key', row_id: 'text key', changes: 'integer' }),
  statements(CREATE, DROP),
];
