import type { ServiceError } from '../common/service-error.js';

/**
 * Tokens as a vendor reports them. A count that the vendor did not give is `undefined`, never 0. Numbers may be implausible:
 * the ledger checks them.
 */
export interface TokenUsage {
  readonly promptTokens?: number | undefined;
  readonly completionTokens?: number | undefined;
}

/** Why the vendor stopped; `raw` beside it keeps the vendor's own word. */
export type FinishReason = 'stop' | 'length' | 'content_filter' | 'tool_calls' | 'other';

/** What one event of a vendor holds. */
export type StreamPart =
  /** A piece of the answer. `text` is not empty. */
  | { readonly type: 'text'; readonly text: string }
  /** The vendor works on the answer (reasoning, a tool call) and says nothing that is part of it. Resets the timers. */
  | { readonly type: 'progress' }
  /** Counts so far. Later ones replace earlier ones, member by member. */
  | { readonly type: 'usage'; readonly usage: TokenUsage }
  | { readonly type: 'finish'; readonly reason: FinishReason; readonly raw: string }
  /** The vendor's own mark that the answer is whole. `last`: nothing that follows counts, reading stops. */
  | { readonly type: 'complete'; readonly last: boolean }
  /** The vendor says that it failed. Nothing after it counts. */
  | { readonly type: 'error'; readonly error: ServiceError };
