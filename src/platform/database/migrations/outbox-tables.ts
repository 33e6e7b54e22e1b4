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

const functionOf = (table: string) => `outbox_${table}_changed`;
const TRIGGERS = SOURCES.flatMap(({ events, ...source }) =>
  events.map((event) => ({ ...source, event, name: `outbox_${source.table}_${event.toLowerCase()}` })),
);

const CREATE_TRIGGERS = {
  sqlite: TRIGGERS.map(
    ({ name, event, table: source, position }) => `CREATE TRIGGER ${name} AFTER ${event} ON ${source} BEGIN
      ${ADD} SELECT id, NEW.${position}, NEW.id, 0 FROM outbox_subscribers WHERE table_name = '${source}' ${CHANGED_AGAIN}; END`,
  ),
  postgres: [
    ...SOURCES.map(
      ({
        table: source,
        position,
      }) => `CREATE FUNCTION ${functionOf(source)}() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
      ${ADD} SELECT outbox_subscribers.id, changed.${position}, changed.id, 0 FROM outbox_subscribers CROSS JOIN changed
        WHERE table_name = '${source}' ORDER BY outbox_subscribers.id, changed.id ${CHANGED_AGAIN};
      RETURN NULL;
    END $body$`,
    ),
    ...TRIGGERS.map(
      ({ name, event, table: source }) => `CREATE TRIGGER ${name} AFTER ${event} ON ${source}
        REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION ${functionOf(source)}()`,
    ),
  ],
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
  statements(CREATE_TRIGGERS),
];
