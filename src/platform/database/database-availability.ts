import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { withTimeout } from '../common/timers/timeouts.js';

export type Availability = 'available' | 'unavailable';

/** A lock of this process in the database. See `ProcessLock`. */
export interface HeldLock {
  readonly key: number;
  /** The time by `elapsedMs()`. */
  readonly heldSince: number;
}

/**
 * Distinguishes an unavailable database from a slow one. A database is unavailable if its connection is refused, lost, or
 * silent while no other query uses the connection.
 *
 * Load on the database or on this process must not make the database count as unavailable. While the database is unavailable, the
 * service trusts remembered credentials, and does not notice revocations.
 */
export abstract class DatabaseAvailability {
  /** Whether the database is known to be unavailable. */
  abstract readonly isUnavailable: boolean;

  /** The lock that this process holds while it is connected. `undefined` without PostgreSQL, and behind a pooler. */
  abstract readonly lock: HeldLock | undefined;

  /** Adds a listener that is called each time this process has taken its lock. */
  abstract whenLocked(listener: () => void): void;

  /** Checks the database now. Callers at the same time share one check. Never throws, and takes 1.5 s at most. */
  abstract check(): Promise<Availability>;
}

/** An embedded database runs inside the process. It can be slow or damaged, but it is always reachable. */
export class EmbeddedAvailability extends DatabaseAvailability {
  readonly isUnavailable = false;
  readonly lock = undefined;

  whenLocked(): void {
    // An embedded database has no such locks.
  }

  check(): Promise<Availability> {
    return Promise.resolve('available');
  }
}

const PING_TIMEOUT_MS = 1000;

/** Reports to readiness probes whether the database replies. */
@Injectable()
export class DatabaseHealth {
  private pending: Promise<boolean> | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly availability: DatabaseAvailability,
  ) {}

  /** Whether the database answers within a second. Never throws. */
  async ping(): Promise<boolean> {
    // While the database does not answer, all probes share one query. Otherwise each probe would occupy a connection of the
    // pool.
    this.pending ??= this.probe().finally(() => (this.pending = undefined));
    return withTimeout(this.pending, PING_TIMEOUT_MS, () => new Error('no reply')).catch(() => false);
  }

  /**
   * Checks whether the database answers. For PostgreSQL, it uses the connection of the probe: a full pool must not make the
   * replica unready.
   */
  private async probe(): Promise<boolean> {
    if (this.dataSource.options.type === 'postgres') return (await this.availability.check()) === 'available';
    try {
      await this.dataSource.query('SELECT 1');
      return true;
    } catch {
      return false;
    }
  }
}
