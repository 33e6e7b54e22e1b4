import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { DataSource } from 'typeorm';
import { insertStatement, marks, secondsNow } from './statements.js';
import type { BegunStream, UsageRecord } from './usage-record.js';
import { RECORD_COLUMNS, rowOf } from './usage-row.js';
import { UsageStore, type OpeningBatch } from './usage-store.js';

/** A process that was not heard of for so long lives no more. By the clock of the database: those of replicas differ. */
const LIFETIME_SECONDS = 60;
const BATCHES_AT_ONCE = 100;

/**
 * The ledger in the service's database. Single statements only, written by hand: the mapper would cost as much as all else
 * that a record needs.
 */
@Injectable()
export class DatabaseUsageStore extends UsageStore {
  private readonly writerId = randomUUID();
  private readonly host = hostname();

  constructor(private readonly database: DataSource) {
    super();
  }

  async open({ id, streams }: OpeningBatch): Promise<void> {
    const statement = insertStatement(this.engine, 'usage_openings', ['id', 'writer_id', 'streams'], 1);
    await this.database.query(`${statement} ON CONFLICT (id) DO NOTHING`, [id, this.writerId, JSON.stringify(streams)]);
  }

  /** What a process says of its own streams is truer than what others took for granted when it seemed dead. */
  async append(records: readonly UsageRecord[]): Promise<void> {
    const statement = insertStatement(this.engine, 'usage_records', RECORD_COLUMNS, records.length);
    const corrections = RECORD_COLUMNS.map((column) => `${column} = excluded.${column}`).join(', ');
    await this.database.query(
      `${statement} ON CONFLICT (id) DO UPDATE SET ${corrections} WHERE usage_records.outcome = 'interrupted' AND excluded.outcome <> 'interrupted'`,
      records.flatMap(rowOf),
    );
  }

  async close(batchIds: readonly string[]): Promise<void> {
    await this.database.query(`DELETE FROM usage_openings WHERE id IN (${marks(this.engine, batchIds.length)})`, [
      ...batchIds,
    ]);
  }

  async beat(): Promise<void> {
    const statement = insertStatement(this.engine, 'usage_writers', ['id', 'host', 'pid'], 1, {
      seen_at: secondsNow(this.engine),
    });
    await this.database.query(`${statement} ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at`, [
      this.writerId,
      this.host,
      process.pid,
    ]);
  }

  async abandoned(): Promise<readonly OpeningBatch[]> {
    await this.buryTheDead();
    const rows: { id: string; streams: string }[] = await this.database.query(
      `SELECT id, streams FROM usage_openings WHERE writer_id NOT IN (SELECT id FROM usage_writers) LIMIT ${BATCHES_AT_ONCE}`,
    );
    return rows.map(({ id, streams }) => ({ id, streams: JSON.parse(streams) as BegunStream[] }));
  }

  async leave(): Promise<void> {
    await this.remove([this.writerId]);
  }

  private async buryTheDead(): Promise<void> {
    const now = secondsNow(this.engine);
    await this.database.query(`DELETE FROM usage_writers WHERE seen_at < ${now} - ${LIFETIME_SECONDS}`);
    const here: { id: string; pid: number }[] = await this.database.query(
      `SELECT id, pid FROM usage_writers WHERE host = ${marks(this.engine, 1)}`,
      [this.host],
    );
    // One with our own process number, which is 1 in a container, was there before us.
    const dead = here.filter(({ id, pid }) => id !== this.writerId && (pid === process.pid || !isRunning(pid)));
    await this.remove(dead.map(({ id }) => id));
  }

  private async remove(writerIds: readonly string[]): Promise<void> {
    if (writerIds.length === 0) return;
    await this.database.query(`DELETE FROM usage_writers WHERE id IN (${marks(this.engine, writerIds.length)})`, [
      ...writerIds,
    ]);
  }

  private get engine(): 'sqlite' | 'postgres' {
    return this.database.options.type === 'postgres' ? 'postgres' : 'sqlite';
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It runs, as somebody else's.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
