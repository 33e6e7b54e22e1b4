/** The time to wait for data after the end of the answer, such as token counts and the end of the body. */
export const AFTER_COMPLETE_MS = 2_000;

/**
 * Brings the parts of one answer into a collector: from a provider over HTTP, or from a protocol in this process. A source
 * has no timers and decides nothing. `Attempt` does both, in the same way for every source.
 */
export interface PartSource {
  /**
   * Adds what has arrived to the collector, and tells its state of the head and of the end. Returns false when nothing has arrived
   * since the last call. The source then calls `onChange` when there is more, or when it has failed.
   *
   * @throws {ServiceError} when the answer cannot be completed.
   */
  read(): boolean;
  /** Stops the work of the provider. The answer then fails, with `reason` or with a more precise reason. */
  close(reason: Error): void;
  /** Releases the source after a complete answer. */
  finish(): void;
}
