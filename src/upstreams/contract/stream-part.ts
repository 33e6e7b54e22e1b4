import type { ServiceError } from '../../common/service-error.js';

/**
 * The token counts that a provider reports. A missing count is `undefined`, never 0. A count can be implausible: the ledger
 * checks the counts.
 */
export interface TokenUsage {
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
}

/** The reason for the end of the answer. The member `raw` next to the reason keeps the provider's own word. */
export type FinishReason = 'stop' | 'length' | 'content_filter' | 'tool_calls' | 'other';

/** One part of a provider's event. */
export type StreamPart =
  /** A piece of the answer. `text` is not empty. */
  | { readonly type: 'text'; readonly text: string }
  /** The provider works on the answer (reasoning, a tool call) without text for the answer. Resets the timers. */
  | { readonly type: 'progress' }
  /** The token counts so far. Later counts replace earlier counts, member by member. */
  | { readonly type: 'usage'; readonly usage: TokenUsage }
  | { readonly type: 'finish'; readonly reason: FinishReason; readonly raw: string }
  /** The provider marks the answer as complete. `last`: reading stops, and all further events are ignored. */
  | { readonly type: 'complete'; readonly last: boolean }
  /** The provider reports a failure. All further events are ignored. */
  | { readonly type: 'error'; readonly error: ServiceError };
