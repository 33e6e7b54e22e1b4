export type Presence = 'there' | 'away';

/**
 * Tells a database that is away from one that is slow. Away means: the connection is refused, lost, or silent while
 * nothing else uses it. Load on the database or on this process must not make the database seem away, because the service
 * then trusts what it remembers of credentials, and does not hear of revocations.
 */
export abstract class DatabasePresence {
  /** Whether the database is known to be away. */
  abstract readonly isAway: boolean;

  /** Finds out now. Callers that ask at the same time share the question. Never throws, and takes 1.5 s at most. */
  abstract check(): Promise<Presence>;
}

/** An embedded database is in the process: it can be slow or broken, but never away. */
export class EmbeddedPresence extends DatabasePresence {
  readonly isAway = false;

  check(): Promise<Presence> {
    return Promise.resolve('there');
  }
}
