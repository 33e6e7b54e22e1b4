/** What the plugin of the durable streams counts in this process, for the metrics. Inject it as optional. */
export abstract class DurableStreamCounts {
  /** The streams that run, and those that are kept in the memory of this process after their end. */
  abstract readonly counts: { readonly running: number; readonly retained: number };
  /** The memory that the streams use, in bytes. */
  abstract readonly usedBytes: number;
  /** Requests since the start that got a stream which another request has begun. */
  abstract readonly replays: number;
}
