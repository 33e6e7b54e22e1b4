import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { DatabaseAvailability } from '../../platform/database/database-availability.js';
import { codeOf } from '../../platform/database/database-error.js';
import { isDataFailure, isLostRace } from '../../platform/database/queries/query-failure.js';
import { engineOf, insertStatement, queryRows, type Engine } from '../../platform/database/queries/statements.js';
import type { UsageRecord } from '../record/usage-record.js';
import { readStreams, writeStreams, type AbandonedBatch, type IntentBatch } from './started-streams.js';
import { ledgerText, UnstorableData } from './ledger-text.js';
import { RECORD_COLUMNS, storedRow, type StoredValue } from './record-columns.js';
import { UsageWriters } from './usage-writers.js';

const BATCHES_AT_ONCE = 100;
/** The number of attempts for a statement that fails only because of a concurrent statement. */
const MAX_RACES = 5;
const MAX_REASON_LENGTH = 200;

/** A record that {@link UsageStore.append} refused because of its data. An operator can recover the record from this form. */
export interface DeadLetter {
  readonly id: string;
  readonly requestId: string | undefined;
  readonly reason: string;
  /** The whole record as JSON. It contains no text of a conversation. */
  readonly record: string;
}

/**
 * Stores the ledger in the database. Each method may be called again with the same arguments: existing data stays.
 * A method throws {@link UnstorableData} for data that can never be stored. Every other error counts as an outage.
 *
 * Uses single statements in SQL, because the object mapper would double the
 * cost of a record.
 */
@Injectable()
export class UsageStore {
  constructor(
    private readonly database: DataSource,
    availability: DatabaseAvailability,
    private readonly writers: UsageWriters = new UsageWriters(database, availability),
  ) {}

  /** Stores the intents of streams, so that the streams are known even if this process is killed. */
  async open({ id, streams }: IntentBatch): Promise<void> {
    const statement = insertStatement(this.engine, 'usage_intents', ['id', 'writer_id', 'streams'], 1);
    await this.write(`${statement} ON CONFLICT (id) DO NOTHING`, [id, this.writers.id, writeStreams(streams)]);
  }

  /**
   * Stores the records of streams that are over: all of them or, if it rejects, none. A record replaces the `interrupted` record that
   * another process may have written, and an `interrupted` record replaces none.
   */
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

  /** Stores a record that {@link append} refused. */
  async deadLetter({ id, requestId, reason, record }: DeadLetter): Promise<void> {
    const columns = ['id', 'request_id', 'set_aside_at', 'reason', 'record'];
    const statement = insertStatement(this.engine, 'usage_dead_letters', columns, 1);
    const [cleanId, cleanRequestId] = [ledgerText(id), requestId === undefined ? null : ledgerText(requestId)];
    const values = [cleanId, cleanRequestId, new Date().toISOString(), ledgerText(reason), record];
    await this.write(`${statement} ON CONFLICT (id) DO NOTHING`, values);
  }

  /** Deletes batches. {@link append} has stored the records of all their streams. */
  async close(batchIds: readonly string[]): Promise<void> {
    await queryRows(this.database, 'DELETE FROM usage_intents WHERE id IN (:ids)', { ids: batchIds });
  }

  /** Stores a heartbeat of this process. The ledger calls this method every 10 seconds. */
  async beat(): Promise<void> {
    await this.writers.beat();
  }

  /**
   * Returns batches of processes that count as dead. A process that is alive all the same corrects the records when its streams end.
   *
   * @param isUrgent whether a client waits for a receipt, so that a more expensive check is justified.
   */
  async abandoned(isUrgent = false): Promise<readonly AbandonedBatch[]> {
    await this.writers.removeDead(isUrgent);
    await this.database.query('DELETE FROM budget_holds WHERE writer_id NOT IN (SELECT id FROM usage_writers)');
    const rows: { id: string; streams: string }[] = await this.database.query(
      `SELECT id, streams FROM usage_intents WHERE writer_id NOT IN (SELECT id FROM usage_writers) LIMIT ${BATCHES_AT_ONCE}`,
    );
    return rows.map(({ id, streams }) => ({ id, ...readStreams(streams) }));
  }

  /** Removes this process at an orderly shutdown. Batches that remain then count as abandoned. */
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
