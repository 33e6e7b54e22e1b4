import {
  Table,
  type MigrationInterface,
  type QueryRunner,
  type TableColumnOptions,
  type TableIndexOptions,
} from 'typeorm';

export type Migration = (new () => MigrationInterface) & { readonly prototype: MigrationInterface };

/** A part of a migration. */
export type Step = (queryRunner: QueryRunner) => Promise<void>;

/**
 * Makes a migration of steps. It is never undone: an older version works with the tables of a newer one.
 *
 * @param name ends with the time of its creation, in milliseconds since 1970.
 */
export function migration(name: `${string}1${number}`, ...steps: readonly Step[]): Migration {
  const made = class implements MigrationInterface {
    async up(queryRunner: QueryRunner): Promise<void> {
      for (const step of steps) await step(queryRunner);
    }

    down(): Promise<never> {
      return Promise.reject(new Error('A migration of the service is not undone.'));
    }
  };
  // TypeORM stores the name of the class, and reads the timestamp from it.
  return Object.defineProperty(made, 'name', { value: name });
}

/** The type of a column. `?`: the column can be NULL. `key`: it is a part of the primary key. */
type ColumnType = `${'text' | 'integer' | 'bigint' | 'float'}${'' | '?' | ' key' | ' unique'}`;

interface TableParts {
  /** The columns of each index, or an index with a name of its own. */
  readonly indexes?: readonly (readonly string[] | { readonly name: string; readonly columnNames: string[] })[];
  readonly uniques?: readonly (readonly string[])[];
  /** The tables whose ids columns hold. A row is deleted with the row that it references. */
  readonly references?: Readonly<Record<string, string>>;
  readonly withoutRowid?: boolean;
}

/** Creates a table. */
export function table(
  name: string,
  columns: Readonly<Record<string, ColumnType | Omit<TableColumnOptions, 'name'>>>,
  { indexes = [], uniques = [], references = {}, withoutRowid = false }: TableParts = {},
): Step {
  const options = {
    name,
    withoutRowid,
    columns: Object.entries(columns).map(([column, type]) => columnOf(column, type)),
    indices: indexes.map((index) => ('name' in index ? index : { columnNames: [...index] }) as TableIndexOptions),
    uniques: uniques.map((columnNames) => ({ columnNames: [...columnNames] })),
    foreignKeys: Object.entries(references).map(([column, referencedTableName]) => ({
      columnNames: [column],
      referencedTableName,
      referencedColumnNames: ['id'],
      onDelete: 'CASCADE',
    })),
  };
  return (queryRunner) => queryRunner.createTable(new Table(options));
}

function columnOf(name: string, type: ColumnType | Omit<TableColumnOptions, 'name'>): TableColumnOptions {
  if (typeof type !== 'string') return { name, ...type };
  const [, base = '', mark] = /^([a-z]+)([? ].*)?$/.exec(type) ?? [];
  return { name, type: base, isNullable: mark === '?', isPrimary: mark === ' key', isUnique: mark === ' unique' };
}

type Statements = readonly string[] | Readonly<Record<'sqlite' | 'postgres', readonly string[]>>;

/** Runs statements, which can differ between the engines. */
export function statements(all: Statements): Step {
  return async (queryRunner) => {
    for (const statement of 'sqlite' in all ? all[isSqlite(queryRunner) ? 'sqlite' : 'postgres'] : all)
      await queryRunner.query(statement);
  };
}

/** A step for SQLite only. */
export function onSqlite(step: Step): Step {
  return async (queryRunner) => {
    if (isSqlite(queryRunner)) await step(queryRunner);
  };
}

function isSqlite({ dataSource }: QueryRunner): boolean {
  return dataSource.options.type !== 'postgres';
}
