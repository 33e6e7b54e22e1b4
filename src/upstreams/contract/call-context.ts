import type { RequestInit, Response } from 'undici';

/**
 * What a protocol may need to know about one attempt, and what it may use.
 *
 * @since 1.0
 */
export interface CallContext {
  /** The id of the client's request, as in `X-Request-Id` and in the log. */
  readonly requestId: string;
  readonly accountId: string;
  /** Aborts when the attempt is over: the client has left, a time limit has expired, or the answer has ended. */
  readonly signal: AbortSignal;
  /**
   * Sends a request over the connections of the service, for example to fetch a token. It uses the connect timeout of the
   * upstream and counts for the limit of connections. It ends with the attempt. A protocol need not catch a failed
   * connection: the attempt then fails as if the connection to the provider had failed.
   */
  fetch(url: string | URL, init?: Omit<RequestInit, 'dispatcher'>): Promise<Response>;
  /**
   * Sets what to do when the attempt is over: for example, to cancel a job. It runs once, also if the attempt is over already. Its
   * errors are ignored. It is not awaited, and a killed process does not run it, so the provider needs a time limit, too.
   *
   * @param cleanUp gets a `fetch` that works after the attempt, for 10 seconds.
   */
  afterAttempt(cleanUp: CleanUp): void;
}

/** @param end `complete`: the answer is complete. `stopped`: the client has left, or the service stops. `failed`: any other end. */
export type CleanUp = (fetch: CallContext['fetch'], end: 'complete' | 'stopped' | 'failed') => Promise<unknown>;
