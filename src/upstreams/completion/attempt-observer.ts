import type { RouteConfig } from '../../config/config.js';
import type { AttemptTrace, CallTrace } from './call-trace.js';
import type { ChatCall } from '../contract/chat-call.js';

/** Is notified of each attempt when the attempt begins and when it ends. Tracing uses this; see `ModelRouter.observe`. */
export interface AttemptObserver {
  begin(attempt: AttemptTrace, route: RouteConfig, call: ChatCall): ObservedAttempt;
}

export interface ObservedAttempt {
  /** Headers that the attempt adds to the request to the provider. */
  readonly headers: Readonly<Record<string, string>>;
  /** Called once, when the attempt is over. `trace` holds the token counts and the finish reason of the attempt. */
  end(trace: CallTrace): void;
}
