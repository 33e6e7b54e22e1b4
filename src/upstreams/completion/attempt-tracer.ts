import type { RouteConfig } from '../../config/config.js';
import type { ChatCall } from '../contract/chat-call.js';
import type { AttemptObserver } from './attempt-observer.js';
import type { AttemptTrace, CallTrace } from './call-trace.js';

/** Creates a span for each attempt. See `AttemptFactory.tracer`. */
export interface AttemptTracer {
  begin(attempt: AttemptTrace, trace: CallTrace, route: RouteConfig, call: ChatCall): AttemptSpan;
}

/** The span of an attempt. At the end, `trace` holds the token counts and the finish reason of the attempt. */
export interface AttemptSpan extends AttemptObserver {
  /** Headers that the attempt adds to the request to the provider. */
  readonly headers: Readonly<Record<string, string>>;
}
