import { ServiceError } from '../../../common/service-error.js';
import type { RequestKey, StreamAddress } from '../identity/stream-identity.js';
import type { StreamLog } from '../log/stream-log.js';

/** The most readers that one stream has at the same time, on all replicas together. */
export const MAX_READERS = 4;
const READER_RETRY_SECONDS = 1;

/** A durable stream, as its readers see it. */
export interface StoredStream {
  /** The `X-Stream-Id`. */
  readonly id: string;
  /** The text. When another replica generates the stream, the log follows that replica. */
  readonly log: StreamLog;
  /**
   * Counts a reader. Until the returned function is called, the log follows the stream.
   *
   * @throws {ServiceError} `concurrency_limit_exceeded` when the stream has {@link MAX_READERS} readers.
   */
  enter(): Promise<() => void>;
  /** Stops the generation, wherever it runs. Resolves when it has stopped. Has no effect on a stream that has ended. */
  cancel(): Promise<void>;
}

/**
 * A durable stream that this process generates. The generation appends to {@link StoredStream.log}, and the store keeps what
 * the log has. After the end of the log, the store keeps it for STREAM_RETENTION_SECONDS.
 */
export interface OwnStream extends StoredStream {
  /** Called when a reader of any replica cancels the stream, or with another reason to stop the generation. */
  onStop: (reason: ServiceError) => void;
  /** The number of readers of all replicas. A store that does not know the number returns one. */
  readers(): number | Promise<number>;
  /**
   * Frees the key of a stream that has not begun.
   *
   * @param reason the failure, which other requests that wait for this stream get too, or `CLAIM_RELEASED`.
   */
  abandon(reason: Error): void;
  /** Deletes the stream. Attached readers still get its ending. */
  drop(): void;
}

/** The outcome of {@link StreamStore.claim}. */
export type Claim =
  /** The caller must generate the stream, or abandon it. The caller counts as its first reader. */
  | { readonly outcome: 'new'; readonly stream: OwnStream; readonly leave: () => void }
  | { readonly outcome: 'found'; readonly stream: StoredStream }
  /** The key belongs to a request with another body. */
  | { readonly outcome: 'conflict' };

/** How many streams a store has now, for metrics. */
export interface StoreCounts {
  /** Streams that this process generates. */
  readonly running: number;
  /** Streams that have ended and can be read again from the memory of this process. */
  readonly retained: number;
}

/** Keeps durable streams. The class is the injection token. */
export abstract class StreamStore {
  /** Whether other replicas can serve the streams. Readers of a replica that stops are then sent to the others. */
  abstract readonly isShared: boolean;

  abstract readonly counts: StoreCounts;

  /** Returns whether a stream with this locator exists, without reading the body of the request. */
  abstract knows(locator: string): Promise<boolean>;

  /**
   * Takes the key of a request, unless a stream has it. Of simultaneous calls with one key, on all replicas, one gets `new`.
   *
   * @param requestBytes the memory that the request holds until its stream ends.
   * @throws {ServiceError} `unavailable` when the stream could not be kept.
   */
  abstract claim(key: RequestKey, requestBytes: number): Promise<Claim>;

  /**
   * Finds a stream of this account by its id.
   *
   * @throws {ServiceError} `unavailable` when the store does not answer.
   */
  abstract find(address: StreamAddress, accountId: string): Promise<StoredStream | undefined>;
}

/** The error for one reader too many. */
export function tooManyReaders(): ServiceError {
  return new ServiceError('concurrency_limit_exceeded', `A stream can have ${MAX_READERS} readers at the same time.`, {
    retryAfterSeconds: READER_RETRY_SECONDS,
  });
}

/** Returns a function that calls `leave` at its first call only. */
export function once(leave: () => void): () => void {
  let isOver = false;
  return () => {
    if (isOver) return;
    isOver = true;
    leave();
  };
}
