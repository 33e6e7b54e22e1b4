export type Presence = 'available' | 'unavailable';

/** A lock of this process in the database. See `PresenceLock`. */
export interface HeldLock {
  readonly key: number;
  /** The time by `performance.now()`. */
  readonly heldSince: number;
}

/**
 * Distinguishes an unavailable database from a slow one. A database is unavailable if its connection is refused, lost, or
 * silent while no other query uses the connection.
 *
 * Load on the database or on this process must not make the database count as unavailable. While the database is unavailable, the
 * service trusts remembered credentials, and does not notice revocations.
 */
export abstract class DatabasePresence {
  /** Whether the database is known to be unavailable. */
  abstract readonly isUnavailable: boolean;

  /** The lock that this process holds while it is connected. `undefined` without PostgreSQL, and behind a pooler. */
  abstract readonly lock: HeldLock | undefined;

  /** Adds a listener that is called each time this process has taken its lock. */
  abstract whenLocked(listener: () => void): void;

  /** Checks the database now. Callers at the same time share one check. Never throws, and takes 1.5 s at most. */
  abstract check(): Promise<Presence>;
}

/** An embedded database runs inside the process. It can be slow or damaged, but it is always reachable. */
export class EmbeddedPresence extends DatabasePresence {
  readonly isUnavailable = false;
  readonly lock = undefined;

  whenLocked(): void {
    // An embedded database has no such locks.
  }

  check(): Promise<Presence> {
    return Promise.resolve('available');
  }
}
