import type { Database } from 'better-sqlite3';
import type { DataSource, EntityTarget, ObjectLiteral } from 'typeorm';
import type { BetterSqlite3Driver } from 'typeorm/driver/better-sqlite3/BetterSqlite3Driver.js';
import { Account } from '../../../src/accounts/account/account.entity.js';
import { ApiKey } from '../../../src/accounts/api-keys/api-key.entity.js';
import { Session } from '../../../src/accounts/sessions/session.entity.js';
import type { CredentialDatabase } from '../../../src/platform/database/credential-database.js';
import {
  AtomicStatements,
  type LockedRow,
  type Row,
  type Statement,
} from '../../../src/platform/database/queries/atomic-statements.js';
import { dataSourceOptions, openDataSource } from '../../../src/platform/database/database.module.js';
import { queryRows, type Parameters } from '../../../src/platform/database/queries/statements.js';
import type { Link, LinkState } from './link.js';
import type { VirtualTime } from './virtual-time.js';

/** A query without a reply for this long has failed, and its connection is closed. */
const SILENT_MS = 5_000;
/** The time of the database when a test begins. */
export const START_MS = Date.UTC(2026, 0, 15, 12);
const EMPTIED = [
  ...['usage_records', 'usage_days', 'budget_holds', 'usage_intents', 'usage_writers'],
  ...['outbox_subscribers', 'outbox_entries', 'webhook_deliveries'],
  // The audit log last, as it has an entry for each removed account.
  ...['api_keys', 'sessions', 'accounts', 'audit_entries'],
];

const CANCELLED = { code: '57014' };

/** The database that all simulated replicas share: SQLite in memory, with the schema of the service and the clock of the test. */
export class SharedDatabase {
  /** How long a transaction was open before its commit, in milliseconds. Its audit entries have the time of their statement. */
  openMs: () => number = () => 0;
  private readonly prepared = new Map<string, ReturnType<Database['prepare']>>();

  private constructor(
    readonly source: DataSource,
    private readonly sqlite: Database,
  ) {}

  static async open(): Promise<SharedDatabase> {
    const source = await openDataSource({
      ...dataSourceOptions({ type: 'sqlite', path: ':memory:' }),
      entities: [Account, ApiKey, Session],
    });
    return new SharedDatabase(source, (source.driver as BetterSqlite3Driver).databaseConnection as Database);
  }

  /** Removes all rows, and takes over a clock. */
  begin(time: VirtualTime): void {
    for (const table of EMPTIED) this.sqlite.prepare(`DELETE FROM ${table}`).run();
    const now = (): number => START_MS + time.nowMs;
    this.sqlite.function('unixepoch', { varargs: true }, () => now() / 1000);
    this.openMs = () => 0;
    this.sqlite.function('strftime', { varargs: true }, () => new Date(now() - this.openMs()).toISOString());
  }

  /** Reads rows at once, past all links. */
  rows<T>(sql: string, ...values: unknown[]): T[] {
    const statement = this.prepared.get(sql) ?? this.sqlite.prepare(sql);
    this.prepared.set(sql, statement);
    return statement.all(...values) as T[];
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
  /** Whether the next query fails, as in a database that is overloaded and still there. */
  fails: () => boolean = () => false;
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

  /** The lookups of credentials. They take the way over the same link. */
  get asCredentialDatabase(): CredentialDatabase {
    const database = {
      rows: (sql: string, parameters?: Parameters) => queryRows(this.asDataSource, sql, parameters),
      repository: (entity: EntityTarget<ObjectLiteral>) => this.repository(entity),
    };
    return database as unknown as CredentialDatabase;
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

  private repository(entity: EntityTarget<ObjectLiteral>): object {
    const repository = this.shared.source.getRepository(entity);
    return {
      find: (options: object) => this.execute(() => repository.find(options), true),
      createQueryBuilder: (alias: string) => {
        const builder = repository.createQueryBuilder(alias);
        const getMany = builder.getMany.bind(builder);
        return Object.assign(builder, { getMany: () => this.execute(getMany, true) });
      },
    };
  }

  private execute<T>(query: () => Promise<T>, mayBeLate: boolean): Promise<T> {
    return this.link.call(async () => {
      if (this.fails()) throw Object.assign(new Error('canceling statement due to statement timeout'), CANCELLED);
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
