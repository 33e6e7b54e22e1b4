import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { engineOf, marks, rowsOf } from '../../database/queries/statements.js';
import { ledgerRow, RECORD_COLUMNS, type LedgerRow } from '../store/record-columns.js';

const RECORDS_AT_ONCE = 100;

/** A record that a feed has not delivered yet. */
export interface FeedEntry {
  readonly recordId: string;
  /** How often the record has changed since the entry exists. */
  readonly changes: number;
  /** `undefined`: the record was deleted, see USAGE_RETENTION_DAYS. */
  readonly row: LedgerRow | undefined;
}

/** Reads and removes what the feeds have not delivered yet. Triggers add the entries: see `create-usage-feeds.ts`. */
@Injectable()
export class FeedEntries {
  constructor(private readonly database: DataSource) {}

  /** Adds the feed, if it is new. From then on, each record gets an entry. */
  async register(feed: string, now: number): Promise<void> {
    await this.run(
      'INSERT INTO usage_feeds (name, seen_at) VALUES (#, #) ON CONFLICT (name) DO UPDATE SET seen_at = excluded.seen_at',
      [feed, iso(now)],
    );
  }

  /** Removes the feeds that no process has had for a time, with their entries. */
  async removeUnseen(since: number): Promise<void> {
    await this.run('DELETE FROM usage_feeds WHERE seen_at < #', [iso(since)]);
    await this.run('DELETE FROM usage_feed_entries WHERE feed NOT IN (SELECT name FROM usage_feeds)', []);
  }

  /** Takes the feed for this process, if no other process has it. Returns whether this process has it now. */
  async own(feed: string, owner: string, now: number, until: number): Promise<boolean> {
    const changed = await this.run(
      `UPDATE usage_feeds SET seen_at = #, owner = #, owned_until = #
        WHERE name = # AND (owner IS NULL OR owner = # OR owned_until < #) RETURNING name`,
      [iso(now), owner, iso(until), feed, owner, iso(now)],
    );
    return rowsOf(changed).length > 0;
  }

  /** Lets other processes take the feed. */
  async release(feed: string, owner: string): Promise<void> {
    await this.run('UPDATE usage_feeds SET owner = NULL WHERE name = # AND owner = #', [feed, owner]);
  }

  /** Returns the next entries, in the order in which the streams began. */
  async next(feed: string): Promise<readonly FeedEntry[]> {
    const columns = RECORD_COLUMNS.map((column) => `usage_records.${column}`).join(', ');
    const found = await this.run(
      `SELECT record_id, changes, ${columns} FROM usage_feed_entries LEFT JOIN usage_records ON usage_records.id = record_id
        WHERE feed = # ORDER BY record_id LIMIT ${RECORDS_AT_ONCE}`,
      [feed],
    );
    return (found as readonly Readonly<Record<string, unknown>>[]).map((row) => ({
      recordId: String(row['record_id']),
      changes: Number(row['changes']),
      row: row['id'] === null ? undefined : ledgerRow(row),
    }));
  }

  /** Removes entries, except those whose record has changed meanwhile. */
  async remove(feed: string, entries: readonly FeedEntry[]): Promise<void> {
    for (const changes of new Set(entries.map((entry) => entry.changes))) {
      const ids = entries.filter((entry) => entry.changes === changes).map(({ recordId }) => recordId);
      const all = ids.map(() => '#').join(',');
      await this.run(`DELETE FROM usage_feed_entries WHERE feed = # AND changes = # AND record_id IN (${all})`, [
        feed,
        changes,
        ...ids,
      ]);
    }
  }

  /** @param sql with `#` for each parameter. */
  private run(sql: string, parameters: readonly (string | number)[]): Promise<unknown> {
    let position = 0;
    const statement = sql.replace(/#/g, () => marks(engineOf(this.database), 1, position++));
    return this.database.query(statement, [...parameters]);
  }
}

function iso(moment: number): string {
  return new Date(moment).toISOString();
}
