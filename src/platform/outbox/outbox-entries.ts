import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { AtomicStatements } from '../database/queries/atomic-statements.js';
import { engineOf, queryRows, type Parameters } from '../database/queries/statements.js';

type StoredRow = Readonly<Record<string, unknown>>;

/** A table whose rows are delivered to subscribers. Triggers add an entry for each row and subscriber: see `outbox-tables.ts`. */
export interface DeliveredTable<Row> {
  readonly name: 'usage_records' | 'audit_entries';
  readonly columns: readonly string[];
  readonly subscribers: {
    /** What they are, for messages: `usage feed`. */
    readonly kind: string;
    readonly names: RegExp;
    /** What `names` accepts, for messages. */
    readonly rule: string;
  };
  /** The maximum number of rows of a delivery. */
  readonly rowsAtOnce: number;
  /** Whether a new subscriber also gets the rows that were there before, which needs the columns `at` and `id`. */
  readonly isFromBeginning: boolean;
  /** Makes what subscribers get. */
  rowsOf(stored: readonly StoredRow[]): readonly Row[] | Promise<readonly Row[]>;
}

/** A row that a subscriber has not got yet. */
export interface OutboxEntry {
  readonly position: string;
  readonly rowId: string;
  /** How often the row has changed since the entry exists. */
  readonly changes: number;
  /** `undefined`: the row was deleted meanwhile. */
  readonly row: StoredRow | undefined;
}

type Table = DeliveredTable<unknown>;

const HISTORY_AT_ONCE = 500;

/** Reads and removes what subscribers have not got yet. */
@Injectable()
export class OutboxEntries {
  constructor(
    private readonly database: DataSource,
    private readonly atomic: AtomicStatements,
  ) {}

  /** Adds the subscriber, if it is new. From then on, each row gets an entry. */
  async register(table: Table, name: string, now: number): Promise<void> {
    const [id, seenAt] = [subscriberId(table, name), iso(now)];
    const seen = 'UPDATE outbox_subscribers SET seen_at = :seenAt WHERE id = :id RETURNING id';
    if ((await this.run(seen, { id, seenAt })).length > 0) return;
    const add = {
      sql: `INSERT INTO outbox_subscribers (id, table_name, seen_at, history_at, history_id)
        VALUES (:id, :table, :seenAt, :history, :history) ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at RETURNING id`,
      parameters: { id, table: table.name, seenAt, history: table.isFromBeginning ? '' : null },
    };
    // A row that is being written has no entry. With the lock, it belongs to the rows before.
    const lock = { sql: `LOCK TABLE ${table.name} IN SHARE ROW EXCLUSIVE MODE`, parameters: {} };
    const isLocked = table.isFromBeginning && engineOf(this.database) === 'postgres';
    await this.atomic.run({ table: 'outbox_subscribers', id }, isLocked ? [lock, add] : [add]);
  }

  /** Adds entries for some of the rows that were there before the subscriber, oldest first. Returns whether all of them have one. */
  async addHistory(table: Table, name: string): Promise<boolean> {
    const id = subscriberId(table, name);
    const state = 'SELECT history_at, history_id FROM outbox_subscribers WHERE id = :id AND history_at IS NOT NULL';
    const [begin] = await this.run<{ readonly history_at: string; readonly history_id: string }>(state, { id });
    if (begin === undefined) return true;
    const rows = await this.run<{ readonly id: string; readonly at: string }>(
      `SELECT id, at FROM ${table.name} WHERE (at, id) > (:at, :after) ORDER BY at, id LIMIT ${HISTORY_AT_ONCE}`,
      { at: begin.history_at, after: begin.history_id },
    );
    if (rows.length > 0) {
      const sql = `INSERT INTO outbox_entries (subscriber, position, row_id, changes)
        SELECT :id, at, id, 0 FROM ${table.name} WHERE id IN (:ids) ON CONFLICT DO NOTHING`;
      await this.run(sql, { id, ids: rows.map((row) => row.id) });
    }
    const isLast = rows.length < HISTORY_AT_ONCE;
    const { at, id: rowId } = (isLast ? undefined : rows.at(-1)) ?? { at: null, id: null };
    const moved = 'UPDATE outbox_subscribers SET history_at = :at, history_id = :rowId WHERE id = :id';
    await this.run(moved, { id, at, rowId });
    return isLast;
  }

  /** Removes the subscribers that no process has had for a time, with their entries. */
  async removeUnseen(since: number): Promise<void> {
    await this.run('DELETE FROM outbox_subscribers WHERE seen_at < :since', { since: iso(since) });
    await this.run('DELETE FROM outbox_entries WHERE subscriber NOT IN (SELECT id FROM outbox_subscribers)');
  }

  /** Takes the subscriber for this process, if no other process has it. Returns whether this process has it now. */
  async own(table: Table, name: string, owner: string, now: number, until: number): Promise<boolean> {
    const changed = await this.run(
      `UPDATE outbox_subscribers SET seen_at = :now, owner = :owner, owned_until = :until
        WHERE id = :id AND (owner IS NULL OR owner = :owner OR owned_until < :now) RETURNING id`,
      { id: subscriberId(table, name), owner, now: iso(now), until: iso(until) },
    );
    return changed.length > 0;
  }

  /** Lets other processes take the subscriber. */
  async release(table: Table, name: string, owner: string): Promise<void> {
    const sql = 'UPDATE outbox_subscribers SET owner = NULL WHERE id = :id AND owner = :owner';
    await this.run(sql, { id: subscriberId(table, name), owner });
  }

  /** Returns the next entries, those of the oldest rows first. */
  async next(table: Table, name: string): Promise<readonly OutboxEntry[]> {
    const columns = table.columns.map((column) => `${table.name}.${column}`).join(', ');
    const found = await this.run<StoredRow>(
      `SELECT position, row_id, changes, ${columns} FROM outbox_entries LEFT JOIN ${table.name} ON ${table.name}.id = row_id
        WHERE subscriber = :id ORDER BY position, row_id LIMIT ${table.rowsAtOnce}`,
      { id: subscriberId(table, name) },
    );
    return found.map(({ position, row_id: rowId, changes, ...row }) => ({
      position: String(position),
      rowId: String(rowId),
      changes: Number(changes),
      row: row['id'] === null ? undefined : row,
    }));
  }

  /** Removes entries, except those whose row has changed meanwhile. */
  async remove(table: Table, name: string, entries: readonly OutboxEntry[]): Promise<void> {
    const id = subscriberId(table, name);
    const [first = '', last = ''] = [entries[0]?.position, entries.at(-1)?.position];
    for (const changes of new Set(entries.map((entry) => entry.changes))) {
      const ids = entries.filter((entry) => entry.changes === changes).map(({ rowId }) => rowId);
      const sql = `DELETE FROM outbox_entries WHERE subscriber = :id AND position BETWEEN :first AND :last
        AND changes = :changes AND row_id IN (:ids)`;
      await this.run(sql, { id, first, last, changes, ids });
    }
  }

  private run<Row>(sql: string, parameters?: Parameters): Promise<Row[]> {
    return queryRows<Row>(this.database, sql, parameters);
  }
}

function subscriberId({ name: source }: Table, name: string): string {
  return `${source}.${name}`;
}

function iso(moment: number): string {
  return new Date(moment).toISOString();
}
