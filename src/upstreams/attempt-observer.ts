import type { RouteConfig } from '../config/config.js';
import type { AttemptTrace, CallTrace } from './call-trace.js';
import type { ChatCall } from './chat-call.js';

/** Is told of every attempt while it runs, as tracing needs it; see `ModelRouter.observe`. */
export interface AttemptObserver {
  begin(attempt: AttemptTrace, route: RouteConfig, call: ChatCall): ObservedAttempt;
}

export interface ObservedAttempt {
  /** Go along with the request to the vendor. */
  readonly headers: Readonly<Record<string, string>>;
  /** Called once, when the attempt is over. What it counted and how it finished stands in `trace`. */
  end(trace: CallTrace): void;
}
