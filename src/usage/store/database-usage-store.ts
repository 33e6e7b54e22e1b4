import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { earliestId } from '../../common/time-ordered-id.js';
import { DatabasePresence } from '../../database/database-presence.js';
import { codeOf } from '../../database/database-error.js';
import { isDataFailure, isLostRace } from '../../database/queries/query-failure.js';
import { engineOf, insertStatement, queryRows, type Engine } from '../../database/queries/statements.js';
import type { UsageRecord } from '../record/usage-record.js';
import { readStreams, writeStreams } from './begun-streams.js';
import { ledgerText } from './ledger-text.js';
import { RECORD_COLUMNS, storedRow, type StoredValue } from './record-columns.js';
import { UnstorableData } from './unstorable-data.js';
import { UsageStore, type AbandonedBatch, type IntentBatch, type DeadLetter } from './usage-store.js';
import { UsageWriters } from './usage-writers.js';

const BATCHES_AT_ONCE = 100;
/** The number of attempts for a statement that fails only because of a concurrent statement. */
const MAX_RACES = 5;
const MAX_REASON_LENGTH = 200;

/**
 * Stores the ledger in the database of the service. Uses single statements in SQL, because the object mapper would double the
 * cost of a record.
 */
@Injectable()
export class DatabaseUsageStore extends UsageStore {
  private readonly writers: UsageWriters;

  constructor(
    private readonly database: DataSource,
    presence: DatabasePresence,
  ) {
    super();
    this.writers = new UsageWriters(database, presence);
  }

  async open({ id, streams }: IntentBatch): Promise<void> {
    const statement = insertStatement(this.engine, 'usage_openings', ['id', 'writer_id', 'streams'], 1);
    await this.write(`${statement} ON CONFLICT (id) DO NOTHING`, [id, this.writers.id, writeStreams(streams)]);
  }

  /** A record of the process that ran the stream replaces the `interrupted` record that another process may have written. */
  async append(records: readonly UsageRecord[]): Promise<void> {
    const statement = insertStatement(this.engine, 'usage_records', RECORD_COLUMNS, records.length);
    const corrections = RECORD_COLUMNS.map((column) => `${column} = excluded.${column}`).join(', ');
    // Sorted by id, so that replicas that write the same records cannot deadlock.
    const rows = records.map(storedRow).sort(byId);
    await this.write(
      `${statement} ON CONFLICT (id) DO UPDATE SET ${corrections} WHERE usage_records.outcome = 'interrupted' AND excluded.outcome <> 'interrupted'`,
      rows.flat(),
    );
  }

  override async deadLetter({ id, requestId, reason, record }: DeadLetter): Promise<void> {
    const columns = ['id', 'request_id', 'set_aside_at', 'reason', 'record'];
    const statement = insertStatement(this.engine, 'usage_set_aside', columns, 1);
    const [cleanId, cleanRequestId] = [ledgerText(id), requestId === undefined ? null : ledgerText(requestId)];
    const values = [cleanId, cleanRequestId, new Date().toISOString(), ledgerText(reason), record];
    await this.write(`${statement} ON CONFLICT (id) DO NOTHING`, values);
  }

  /** The ids sort by the start of the stream, so the primary key finds the oldest records. */
  override async deleteBefore(startedAt: number, limit: number): Promise<number> {
    // Replicas that delete at the same time take different records.
    const lock = this.engine === 'postgres' ? ' FOR UPDATE SKIP LOCKED' : '';
    const oldest = `SELECT id FROM usage_records WHERE id < :id AND started_at < :time ORDER BY id LIMIT ${limit}${lock}`;
    const sql = `DELETE FROM usage_records WHERE id IN (${oldest}) RETURNING id`;
    const values = { id: earliestId(startedAt), time: new Date(startedAt).toISOString() };
    return (await queryRows(this.database, sql, values)).length;
  }

  async close(batchIds: readonly string[]): Promise<void> {
    await queryRows(this.database, 'DELETE FROM usage_openings WHERE id IN (:ids)', { ids: batchIds });
  }

  async beat(): Promise<void> {
    await this.writers.beat();
  }

  async abandoned(isUrgent = false): Promise<readonly AbandonedBatch[]> {
    await this.writers.removeDead(isUrgent);
    const rows: { id: string; streams: string }[] = await this.database.query(
      `SELECT id, streams FROM usage_openings WHERE writer_id NOT IN (SELECT id FROM usage_writers) LIMIT ${BATCHES_AT_ONCE}`,
    );
    return rows.map(({ id, streams }) => ({ id, ...readStreams(streams) }));
  }

  async leave(): Promise<void> {
    await this.writers.leave();
  }

  /** @throws {UnstorableData} if the database refuses the values. */
  private async write(statement: string, values: StoredValue[]): Promise<void> {
    for (let races = 1; ; races++) {
      try {
        await this.database.query(statement, values);
        return;
      } catch (error) {
        if (isDataFailure(error)) throw refusalOf(error);
        if (!isLostRace(error) || races === MAX_RACES) throw error;
      }
    }
  }

  private get engine(): Engine {
    return engineOf(this.database);
  }
}

function refusalOf(error: unknown): UnstorableData {
  const { message } = error as Error;
  return new UnstorableData(`${codeOf(error) ?? ''} ${message}`.slice(0, MAX_REASON_LENGTH), { cause: error });
}

function byId([one]: readonly unknown[], [other]: readonly unknown[]): number {
  return String(one) < String(other) ? -1 : 1;
}
