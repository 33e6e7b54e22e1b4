export interface AttemptLimit {
  /** Unique among the names of all limits. */
  readonly name: string;
  readonly attempts: number;
  readonly withinSeconds: number;
}

export type Counted =
  | {
      readonly allowed: true;
      /** Takes back one counted attempt, for example after a successful sign-in. */
      withdraw(): Promise<void>;
    }
  | { readonly allowed: false; readonly retryAfterMs: number };

/** Counts attempts against one limit, separately for each key. */
export interface AttemptCounter {
  /** Counts an attempt, unless the limit is reached. */
  count(key: string): Promise<Counted>;
}

/** Remembers each key for some time after the key was last added. */
export interface AttemptMemory {
  has(key: string): Promise<boolean>;
  add(key: string): Promise<void>;
}

/**
 * Creates counters for attempts, such as sign-ins. The class is the injection token. Keys are texts of any length. Callers
 * pass any number of keys, so each implementation must limit how many it stores.
 */
export abstract class AttemptCounters {
  /** Creates an independent counter. */
  abstract counter(limit: AttemptLimit): AttemptCounter;
  /** Creates an independent memory. */
  abstract memory(name: string, forSeconds: number): AttemptMemory;
}
