export type Presence = 'available' | 'unavailable';

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

  /** Checks the database now. Callers at the same time share one check. Never throws, and takes 1.5 s at most. */
  abstract check(): Promise<Presence>;
}

/** An embedded database runs inside the process. It can be slow or damaged, but it is always reachable. */
export class EmbeddedPresence extends DatabasePresence {
  readonly isUnavailable = false;

  check(): Promise<Presence> {
    return Promise.resolve('available');
  }
}
