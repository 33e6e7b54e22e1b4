/** One attempt to get a completion from one upstream. */
export interface Attempt {
  /**
   * Resolves when the provider accepts the request. Rejects with the reason when the provider does not accept the request.
   */
  accepted(): Promise<void>;
  /**
   * Returns the text that arrived since the last call, and waits until there is some. Returns `undefined` when the provider
   * has marked the answer as complete. Rejects when the answer cannot be completed.
   */
  next(): Promise<string | undefined>;
  /** True when {@link next} has returned the complete text, so that only the end can follow. */
  readonly isWhole: boolean;
  /** Stops the work of the provider and rejects a waiting {@link next} with `reason`. Has no effect after the end. */
  close(reason: Error): void;
}
