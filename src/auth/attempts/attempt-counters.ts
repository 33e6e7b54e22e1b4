export interface AttemptLimit {
  /** Apart from the other limits' names. */
  readonly name: string;
  readonly attempts: number;
  readonly withinSeconds: number;
}

export type Counted =
  | {
      readonly allowed: true;
      /** It was none after all. */
      withdraw(): Promise<void>;
    }
  | { readonly allowed: false; readonly retryAfterMs: number };

/** Counts up to one limit, for each key by itself. */
export interface AttemptCounter {
  count(key: string): Promise<Counted>;
}

/** Knows a key for some time after it was last added. */
export interface AttemptMemory {
  has(key: string): Promise<boolean>;
  add(key: string): Promise<void>;
}

/**
 * Where attempts to sign in are counted. The class is the injection token. Keys are texts of any length, and bounded in
 * number only by what this keeps.
 */
export abstract class AttemptCounters {
  /** A counter of its own. */
  abstract counter(limit: AttemptLimit): AttemptCounter;
  /** A memory of its own. */
  abstract memory(name: string, forSeconds: number): AttemptMemory;
}
