/** What a trigger writes about a changed row. */
export interface Audited {
  readonly name: string;
  readonly table: string;
  /** `UPDATE OF` fires only if a statement sets one of the columns, so the use of a key or a session costs nothing. */
  readonly event: string;
  /** In SQL. By default every such change. */
  readonly when?: string;
  readonly action: string;
  /** In SQL. */
  readonly target: string;
  readonly accountId: string;
  /** In SQL: the author, if the process names none. By default the service. */
  readonly author?: string;
  /** The columns whose values are kept, before and after the change. Never a secret, and no address of a person. */
  readonly before?: readonly string[];
  readonly after?: readonly string[];
}

const COLUMNS = 'id, at, actor, action, target, account_id, source, value_before, value_after';

/** The author of a change without a named author. */
const UNNAMED = "'service'";

const SQLITE = {
  // Ids in the order of the entries, because several can have the same time.
  id: "printf('%016d', (SELECT COALESCE(MAX(rowid), 0) + 1 FROM audit_entries))",
  now: "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')",
  actor: '(SELECT actor FROM audit_authors LIMIT 1)',
  source: '(SELECT source FROM audit_authors LIMIT 1)',
  differs: 'IS NOT',
  json: 'json_object',
};
const POSTGRES = {
  id: "to_char(nextval('audit_entries_ids'), 'FM0000000000000000')",
  now: `to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
  // A setting that was set in an earlier transaction of the connection is an empty text.
  actor: "NULLIF(current_setting('chat.actor', true), '')",
  source: "NULLIF(current_setting('chat.source', true), '')",
  differs: 'IS DISTINCT FROM',
  json: 'json_build_object',
};

/** Statements for each engine. */
type Statements = Readonly<Record<'sqlite' | 'postgres', readonly string[]>>;

/** Returns the statements that create the triggers of the audit log. Each engine has its own syntax for triggers, and for JSON. */
export function auditTriggers(all: readonly Audited[]): Statements {
  return {
    sqlite: all.map(
      (audited) => `CREATE TRIGGER ${nameOf(audited)} AFTER ${audited.event} ON ${audited.table}
        ${audited.when === undefined ? '' : `WHEN ${adapted(audited.when, SQLITE)}`}
        BEGIN ${insertOf(audited, SQLITE)}; END`,
    ),
    postgres: all.flatMap((audited) => [
      `CREATE FUNCTION ${nameOf(audited)}() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
        ${insertOf(audited, POSTGRES)};
        RETURN NULL;
      END $body$`,
      `CREATE TRIGGER ${nameOf(audited)} AFTER ${audited.event} ON ${audited.table} FOR EACH ROW
        ${audited.when === undefined ? '' : `WHEN (${adapted(audited.when, POSTGRES)})`}
        EXECUTE FUNCTION ${nameOf(audited)}()`,
    ]),
  };
}

type Dialect = typeof SQLITE;

function insertOf({ action, target, accountId, author = UNNAMED, before, after }: Audited, dialect: Dialect): string {
  const { id, now, actor, source } = dialect;
  const values = [
    id,
    now,
    `COALESCE(${actor}, ${author})`,
    `'${action}'`,
    target,
    accountId,
    source,
    jsonOf(before, 'OLD'),
    jsonOf(after, 'NEW'),
  ];
  return `INSERT INTO audit_entries (${COLUMNS}) VALUES (${values.join(', ')})`;

  function jsonOf(columns: readonly string[] | undefined, row: 'OLD' | 'NEW'): string {
    if (columns === undefined) return 'NULL';
    const text = `${dialect.json}(${columns.map((column) => `'${column}', ${row}.${column}`).join(', ')})`;
    return dialect === POSTGRES ? `${text}::text` : text;
  }
}

function nameOf({ table, name }: Audited): string {
  return `audit_${table}_${name}`;
}

/** The condition that a column has changed. */
export function differs(column: string): string {
  return `OLD.${column} {differs} NEW.${column}`;
}

function adapted(condition: string, dialect: Dialect): string {
  return condition.replaceAll('{differs}', dialect.differs).replaceAll('{now}', dialect.now);
}
