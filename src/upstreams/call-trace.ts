import type { FinishReason, TokenUsage } from './stream-part.js';

/** What is known of one completion while it runs, kept by the router for whoever asked: logs, the usage ledger. */
export interface CallTrace {
  readonly requestId: string;
  /** Vendors asked so far, with the name of each upstream in order. */
  readonly attempts: string[];
  usage: TokenUsage;
  finish: { readonly reason: FinishReason; readonly raw: string } | undefined;
}

export function newCallTrace(requestId: string): CallTrace {
  return { requestId, attempts: [], usage: {}, finish: undefined };
}
