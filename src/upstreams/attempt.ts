/** One try to get a completion from one upstream. */
export interface Attempt {
  /** Resolves when the vendor has taken the request; rejects with why it did not. */
  accepted(): Promise<void>;
  /**
   * The text that came since the last call, waiting for the first of it; `undefined` once the vendor has said that the
   * answer is whole. Rejects when it can never be.
   */
  next(): Promise<string | undefined>;
  /** The text that {@link next} gave is all of it: nothing but the end can follow. */
  readonly isWhole: boolean;
  /** Stops the vendor's work and wakes whoever waits with `reason`. Harmless when nothing runs any more. */
  close(reason: Error): void;
}
