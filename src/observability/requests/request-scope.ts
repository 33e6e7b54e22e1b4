import type { IncomingMessage } from 'node:http';
import type { FinishedRequest, RequestObserver } from './finished-request.js';

/** A scope that contains each request from its start, for example a trace span. */
export interface RequestScope {
  /** Returns `undefined` for a request that runs outside of the scope. */
  begin(request: IncomingMessage): ScopedRequest | undefined;
}

export interface ScopedRequest extends RequestObserver {
  /** The id of the request in other systems. */
  readonly traceId: string;
  run(next: () => void): void;
  finished(request: FinishedRequest): void;
}
