import type { Database } from 'better-sqlite3';
import type { DataSource } from 'typeorm';
import type { BetterSqlite3Driver } from 'typeorm/driver/better-sqlite3/BetterSqlite3Driver.js';
import {
  AtomicStatements,
  type LockedRow,
  type Row,
  type Statement,
} from '../../../src/platform/database/queries/atomic-statements.js';
import { dataSourceOptions, openDataSource } from '../../../src/platform/database/open-data-source.js';
import type { Link, LinkState } from './link.js';
import type { VirtualTime } from './virtual-time.js';

/** A query without a reply for this long has failed, and its connection is closed. */
const SILENT_MS = 5_000;
/** The time of the database when a test begins. */
export const START_MS = Date.UTC(2026, 0, 15, 12);
const EMPTIED = [
  ...['usage_records', 'usage_days', 'budget_holds', 'usage_intents', 'usage_writers'],
  ...['usage_feeds', 'usage_feed_entries', 'webhook_deliveries'],
];

/** The database that all simulated replicas share: SQLite in memory, with the schema of the service and the clock of the test. */
export class SharedDatabase {
  private constructor(
    readonly source: DataSource,
    private readonly sqlite: Database,
  ) {}

  static async open(): Promise<SharedDatabase> {
    const source = await openDataSource(dataSourceOptions({ type: 'sqlite', path: ':memory:' }));
    return new SharedDatabase(source, (source.driver as BetterSqlite3Driver).databaseConnection as Database);
  }

  /** Removes all rows, and takes over a clock. */
  begin(time: VirtualTime): void {
    for (const table of EMPTIED) this.sqlite.prepare(`DELETE FROM ${table}`).run();
    this.sqlite.function('unixepoch', { varargs: true }, () => (START_MS + time.nowMs) / 1000);
  }

  /** Reads rows at once, past all links. */
  rows<T>(sql: string, ...values: unknown[]): T[] {
    return this.sqlite.prepare(sql).all(...values) as T[];
  }

  async close(): Promise<void> {
    await this.source.destroy();
  }
}

/** The database as one replica sees it: over a {@link Link}. */
export class SimulatedDatabase {
  readonly options;
  readonly driver;
  readonly statements: AtomicStatements;
  private silence = 0;

  /** @param onExecuted called after each query, in the database. */
  constructor(
    private readonly time: VirtualTime,
    readonly link: Link,
    private readonly shared: SharedDatabase,
    private readonly onExecuted: () => void,
  ) {
    this.options = shared.source.options;
    this.driver = shared.source.driver;
    this.statements = new LinkedStatements(shared.source, (execute) => this.execute(execute, false));
  }

  get asDataSource(): DataSource {
    return this as unknown as DataSource;
  }

  query(sql: string, parameters?: unknown[]): Promise<unknown> {
    return this.execute(() => this.shared.source.query(sql, parameters), true);
  }

  /** Changes the link, in a step of the replica. */
  set(state: LinkState): void {
    const silence = ++this.silence;
    this.link.set(state);
    if (state !== 'stalled' && state !== 'deaf') return;
    this.time.after(SILENT_MS, () => {
      if (silence !== this.silence) return;
      this.link.reset();
      this.link.state = 'cut';
    });
  }

  private execute<T>(query: () => Promise<T>, mayBeLate: boolean): Promise<T> {
    return this.link.call(async () => {
      const result = await query();
      this.onExecuted();
      return result;
    }, mayBeLate);
  }
}

class LinkedStatements extends AtomicStatements {
  constructor(
    source: DataSource,
    private readonly execute: <T>(query: () => Promise<T>) => Promise<T>,
  ) {
    super(source);
  }

  override run(row: LockedRow, statements: readonly Statement[]): Promise<Row[][]> {
    return this.execute(() => super.run(row, statements));
  }
}
