import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { DataSource } from 'typeorm';
import { DatabaseAvailability } from '../../platform/database/database-availability.js';
import { LOCKED_BY_PROCESSES } from '../../platform/database/postgres/postgres-availability.js';
import {
  engineOf,
  insertStatement,
  queryRows,
  secondsNow,
  type Engine,
} from '../../platform/database/queries/statements.js';
import { elapsedMs, sleep } from '../../platform/common/timers/pace.js';

/** A replica without a heartbeat for this long counts as dead, by the clock of the database. The clocks of replicas differ. */
const LIFETIME_SECONDS = 60;
/** If this process could not send a heartbeat for this long, the heartbeats of others are probably missing for the same reason. */
const OUTAGE_MS = 20_000;
/** After an outage, this process waits until the others have sent their next heartbeat. */
const RECOVERY_MS = 20_000;
/** A replica that runs sends a heartbeat within this time. */
const LATE_SECONDS = 15;
/** A replica that has lost its connection connects again within this time. */
const RECONNECT_MS = 500;
/** After a failover, this process waits until the others have connected to the new server. */
const SETTLED_MS = 5_000;

/**
 * The processes that write the ledger and reserve money, with a row for each that shows the others whether the process is still
 * there.
 */
@Injectable()
export class UsageWriters {
  readonly id = randomUUID();
  private readonly host = hostname();
  private beatAt: number | undefined;
  private recoveredAt = -Infinity;
  /** Whether this process has a row, or should have one. */
  private isListed = false;

  constructor(
    private readonly database: DataSource,
    private readonly availability: DatabaseAvailability,
  ) {
    availability.whenLocked(() => {
      // The next heartbeat repeats a failed one.
      if (this.isListed) this.beat().catch(() => undefined);
    });
  }

  async beat(): Promise<void> {
    this.isListed = true;
    const statement = insertStatement(this.engine, 'usage_writers', ['id', 'host', 'pid', 'lock_key'], 1, {
      seen_at: secondsNow(this.engine),
    });
    const lockKey = this.availability.lock?.key ?? null;
    await this.database.query(
      `${statement} ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, lock_key = excluded.lock_key`,
      [this.id, this.host, process.pid, lockKey],
    );
    const now = elapsedMs();
    if (this.beatAt !== undefined && now - this.beatAt > OUTAGE_MS) this.recoveredAt = now;
    this.beatAt = now;
  }

  async leave(): Promise<void> {
    this.isListed = false;
    await this.remove([this.id]);
  }

  /**
   * Removes the processes that are dead.
   *
   * @param isUrgent whether to check the connections of all processes. The cost of this check grows with the number of
   *   processes. Otherwise, only late processes are looked at.
   */
  async removeDead(isUrgent: boolean): Promise<void> {
    await this.removeSilent();
    await this.remove(await this.killedHere());
    const disconnected = await this.disconnected(isUrgent);
    if (disconnected.length === 0) return;
    await sleep(RECONNECT_MS, { ref: false });
    const still = new Set(await this.disconnected(isUrgent));
    await this.remove(disconnected.filter((id) => still.has(id)));
  }

  private async removeSilent(): Promise<void> {
    if (elapsedMs() - this.recoveredAt < RECOVERY_MS) return;
    const now = secondsNow(this.engine);
    await this.database.query(`DELETE FROM usage_writers WHERE seen_at < ${now} - ${LIFETIME_SECONDS}`);
  }

  private async killedHere(): Promise<string[]> {
    const sql = 'SELECT id, pid FROM usage_writers WHERE host = :host';
    const here = await queryRows<{ id: string; pid: number }>(this.database, sql, { host: this.host });
    // A writer with our own process id is an earlier process. In a container, the id is always 1.
    const killed = here.filter(({ id, pid }) => id !== this.id && (pid === process.pid || !isRunning(pid)));
    return killed.map(({ id }) => id);
  }

  /**
   * The processes, on any host, that have lost the connection that held their lock. A killed process loses the connection at
   * once, and a slow process keeps it.
   */
  private async disconnected(isUrgent: boolean): Promise<string[]> {
    const { lock } = this.availability;
    if (lock === undefined || elapsedMs() - lock.heldSince < SETTLED_MS) return [];
    const isLate = isUrgent ? '' : `AND seen_at < ${secondsNow(this.engine)} - ${LATE_SECONDS}`;
    const writers: { id: string }[] = await this.database.query(
      `SELECT id FROM usage_writers WHERE lock_key IS NOT NULL ${isLate} AND lock_key NOT IN (${LOCKED_BY_PROCESSES})`,
    );
    return writers.map(({ id }) => id).filter((id) => id !== this.id);
  }

  private async remove(writerIds: readonly string[]): Promise<void> {
    if (writerIds.length === 0) return;
    await queryRows(this.database, 'DELETE FROM usage_writers WHERE id IN (:ids)', { ids: writerIds });
  }

  private get engine(): Engine {
    return engineOf(this.database);
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // The process runs, and another user owns it.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
