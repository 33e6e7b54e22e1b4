import type { ServiceError } from '../../platform/common/service-error.js';
import type { RouteConfig } from '../../platform/config/config.js';
import type { ChatCall } from '../contract/chat-call.js';
import type { AttemptTrace, CallTrace } from './call-trace.js';

/** How an attempt has ended. A stopped attempt says nothing about its provider. */
export type AttemptEnd =
  | { readonly type: 'complete' }
  | { readonly type: 'stopped' }
  | { readonly type: 'failed'; readonly failure: ServiceError };

/**
 * Is notified of the events of one attempt: at most one first text, then exactly one end. The `AttemptTrace` of the attempt
 * contains the times and the error code of an event before its observers are notified.
 */
export interface AttemptObserver {
  /** The reader has taken the first text, or the start of the first tool call. */
  onFirstText?(): void;
  onEnd(end: AttemptEnd): void;
}

/** Creates a span for each attempt. See `AttemptFactory.tracer`. */
export interface AttemptTracer {
  begin(attempt: AttemptTrace, trace: CallTrace, route: RouteConfig, call: ChatCall): AttemptSpan;
}

/** The span of an attempt. At the end, `trace` holds the token counts and the finish reason of the attempt. */
export interface AttemptSpan extends AttemptObserver {
  /** Headers that the attempt adds to the request to the provider. */
  readonly headers: Readonly<Record<string, string>>;
}
