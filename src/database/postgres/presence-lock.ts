import { randomInt } from 'node:crypto';
import type { HeldLock } from '../database-presence.js';
import type { ProbeConnection } from './probe-connection.js';

/** The first part of the keys of these locks. Any number works if no other program uses the same number in this database. */
const LOCKS_OF_PROCESSES = 2_094_771_464;
const HIGHEST_KEY = 2 ** 31 - 1;

/** An SQL query for the keys of all processes that are connected. */
export const LOCKED_BY_PROCESSES = `SELECT objid::bigint FROM pg_locks WHERE locktype = 'advisory' AND granted
  AND classid = ${LOCKS_OF_PROCESSES} AND objsubid = 2
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

/**
 * An advisory lock that belongs to the connection of the probe. When a process is killed, its operating system closes the
 * connection, and the server releases the lock within milliseconds. So other hosts can tell a killed process from a slow one.
 */
export class PresenceLock {
  readonly onTaken: (() => void)[] = [];
  private readonly key = randomInt(1, HIGHEST_KEY);
  private holder: ProbeConnection | undefined;
  private heldSince = 0;

  get held(): HeldLock | undefined {
    return this.holder === undefined ? undefined : { key: this.key, heldSince: this.heldSince };
  }

  /** Takes the lock on a new connection, where possible. Never rejects. */
  async take(connection: ProbeConnection): Promise<void> {
    const isTaken = await connection.lock(LOCKS_OF_PROCESSES, this.key).catch(() => false);
    if (!isTaken || connection.isLost) return;
    this.holder = connection;
    this.heldSince = performance.now();
    for (const listener of this.onTaken) listener();
  }

  /** Call this when a connection has ended. */
  lose(connection: ProbeConnection): void {
    if (this.holder === connection) this.holder = undefined;
  }
}
