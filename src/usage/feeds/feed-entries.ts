import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { queryRows, type Parameters } from '../../platform/database/queries/statements.js';
import { ledgerRow, RECORD_COLUMNS, type LedgerRow } from '../store/record-columns.js';

const RECORDS_AT_ONCE = 100;

/** A record that a feed has not delivered yet. */
interface FeedEntry {
  readonly recordId: string;
  /** How often the record has changed since the entry exists. */
  readonly changes: number;
  /** `undefined`: the record was deleted, see USAGE_RETENTION_DAYS. */
  readonly row: LedgerRow | undefined;
}

/** Reads and removes what the feeds have not delivered yet. Triggers add the entries: see `usage-migrations.ts`. */
@Injectable()
export class FeedEntries {
  constructor(private readonly database: DataSource) {}

  /** Adds the feed, if it is new. From then on, each record gets an entry. */
  async register(feed: string, now: number): Promise<void> {
    await this.run(
      'INSERT INTO usage_feeds (name, seen_at) VALUES (:feed, :now) ON CONFLICT (name) DO UPDATE SET seen_at = excluded.seen_at',
      { feed, now: iso(now) },
    );
  }

  /** Removes the feeds that no process has had for a time, with their entries. */
  async removeUnseen(since: number): Promise<void> {
    await this.run('DELETE FROM usage_feeds WHERE seen_at < :since', { since: iso(since) });
    await this.run('DELETE FROM usage_feed_entries WHERE feed NOT IN (SELECT name FROM usage_feeds)');
  }

  /** Takes the feed for this process, if no other process has it. Returns whether this process has it now. */
  async own(feed: string, owner: string, now: number, until: number): Promise<boolean> {
    const changed = await this.run(
      `UPDATE usage_feeds SET seen_at = :now, owner = :owner, owned_until = :until
        WHERE name = :feed AND (owner IS NULL OR owner = :owner OR owned_until < :now) RETURNING name`,
      { feed, owner, now: iso(now), until: iso(until) },
    );
    return changed.length > 0;
  }

  /** Lets other processes take the feed. */
  async release(feed: string, owner: string): Promise<void> {
    await this.run('UPDATE usage_feeds SET owner = NULL WHERE name = :feed AND owner = :owner', { feed, owner });
  }

  /** Returns the next entries, in the order in which the streams began. */
  async next(feed: string): Promise<readonly FeedEntry[]> {
    const columns = RECORD_COLUMNS.map((column) => `usage_records.${column}`).join(', ');
    const found = await this.run<Readonly<Record<string, unknown>>>(
      `SELECT record_id, changes, ${columns} FROM usage_feed_entries LEFT JOIN usage_records ON usage_records.id = record_id
        WHERE feed = :feed ORDER BY record_id LIMIT ${RECORDS_AT_ONCE}`,
      { feed },
    );
    return found.map((row) => ({
      recordId: String(row['record_id']),
      changes: Number(row['changes']),
      row: row['id'] === null ? undefined : ledgerRow(row),
    }));
  }

  /** Removes entries, except those whose record has changed meanwhile. */
  async remove(feed: string, entries: readonly FeedEntry[]): Promise<void> {
    for (const changes of new Set(entries.map((entry) => entry.changes))) {
      const ids = entries.filter((entry) => entry.changes === changes).map(({ recordId }) => recordId);
      const sql = 'DELETE FROM usage_feed_entries WHERE feed = :feed AND changes = :changes AND record_id IN (:ids)';
      await this.run(sql, { feed, changes, ids });
    }
  }

  private run<Row>(sql: string, parameters?: Parameters): Promise<Row[]> {
    return queryRows<Row>(this.database, sql, parameters);
  }
}

function iso(moment: number): string {
  return new Date(moment).toISOString();
}
