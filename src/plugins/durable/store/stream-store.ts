import { ServiceError } from '../../../plugin-api/core/common.js';
import type { RequestKey, StreamAddress } from '../stream-identity.js';
import type { LoggedParts } from '../log/log-reader.js';
import type { Ending, StreamLog } from '../log/stream-log.js';

/** The most readers that one stream has at the same time, on all replicas together. */
export const MAX_READERS = 4;
const READER_RETRY_SECONDS = 1;

/** One reader of a stream. */
export interface StreamReading {
  readonly source: LoggedParts;
  /** Ends the reading, and frees the slot of the reader. Further calls have no effect. */
  readonly leave: () => void;
}

/** A durable stream, as its readers see it. */
export interface StoredStream {
  /** The `X-Stream-Id`. */
  readonly id: string;
  /**
   * Adds a reader, until it leaves.
   *
   * @throws {ServiceError} `concurrency_limit_exceeded` when the stream has {@link MAX_READERS} readers.
   */
  enter(): Promise<StreamReading>;
  /** Stops the generation, wherever it runs. Resolves when it has stopped. Has no effect on a stream that has ended. */
  cancel(): Promise<void>;
  /** Deletes a stream that has ended, and frees its key. */
  forget(): Promise<void>;
}

/** A durable stream that this process generates. The generation appends to {@link log}. After the end, the store keeps the stream. */
export interface OwnStream extends StoredStream {
  readonly log: StreamLog;
  /** Called when a reader of any replica cancels the stream, or with another reason to stop the generation. */
  onStop: (reason: ServiceError) => void;
  /** The number of readers of all replicas. One if the store does not know the number. */
  readonly readers: number;
  /**
   * Begins the answer. After this, no other replica can answer the same request.
   *
   * @param head what a surface keeps with the beginning of the answer, as JSON.
   * @throws {ServiceError} `unavailable` when the store does not confirm the claim, or when another replica has taken the key.
   */
  begin(head: unknown): Promise<void>;
  /**
   * Ends the answer. Resolves with the ending that all readers get: `interrupted` if the store does not take the given one.
   * `undefined`: it stays unknown whether the store has taken it.
   */
  end(ending: Ending): Promise<Ending | undefined>;
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
  /** The caller must generate the stream, or abandon it. */
  | { readonly outcome: 'new'; readonly stream: OwnStream; readonly reading: StreamReading }
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
   * @param requestBytes the memory that the request holds until its stream begins.
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

/** The error for a stream that a store does not have. */
export function noSuchStream(): ServiceError {
  return new ServiceError('not_found', 'There is no such stream, or it is not kept any longer.');
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
