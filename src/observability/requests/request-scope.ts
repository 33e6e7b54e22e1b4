import type { IncomingMessage } from 'node:http';
import type { FinishedRequest, RequestObserver } from './finished-request.js';

/** Something that each request runs inside of, from its very beginning. */
export interface RequestScope {
  begin(request: IncomingMessage): ScopedRequest;
}

export interface ScopedRequest extends RequestObserver {
  /** By which the request is found in other systems. */
  readonly traceId: string;
  run(next: () => void): void;
  finished(request: FinishedRequest): void;
}
