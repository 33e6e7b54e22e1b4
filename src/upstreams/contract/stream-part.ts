import type { ServiceError } from '../../common/service-error.js';

/**
 * The token counts that a provider reports. A missing count is `undefined`, never 0. A count can be implausible: the ledger
 * checks the counts.
 */
export interface TokenUsage {
  /** All tokens of the prompt, with the cached tokens. */
  readonly inputTokens?: number | undefined;
  /** The part of `inputTokens` that the provider has read from its cache. */
  readonly cachedInputTokens?: number | undefined;
  /** The part of `inputTokens` that the provider has written to its cache. */
  readonly cacheWriteInputTokens?: number | undefined;
  /** All tokens of the answer, with the reasoning tokens. */
  readonly outputTokens?: number | undefined;
  /** The part of `outputTokens` that is reasoning. */
  readonly reasoningOutputTokens?: number | undefined;
}

/** The reason for the end of the answer. The member `raw` next to the reason keeps the provider's own word. */
export type FinishReason = 'stop' | 'length' | 'content_filter' | 'tool_calls' | 'other';

/** A piece of the answer. `text` is not empty. */
export interface TextPart {
  readonly type: 'text';
  readonly text: string;
}

/** A piece of the reasoning before or between the pieces of the answer. It is not part of the answer. Not empty. */
export interface ReasoningPart {
  readonly type: 'reasoning';
  readonly text: string;
}

/** The token counts so far. Later counts replace earlier counts, member by member. */
export interface UsagePart {
  readonly type: 'usage';
  readonly usage: TokenUsage;
}

export interface FinishPart {
  readonly type: 'finish';
  readonly reason: FinishReason;
  /** The provider's own word. */
  readonly raw: string;
}

/**
 * One part of a provider's event, as a protocol returns it.
 *
 * @since 1.0
 */
export type StreamPart =
  | TextPart
  | ReasoningPart
  /** The provider works on the answer (a tool call, hidden reasoning) without text. Resets the timers. */
  | { readonly type: 'progress' }
  | UsagePart
  | FinishPart
  /** The provider marks the answer as complete. `last`: reading stops, and all further events are ignored. */
  | { readonly type: 'complete'; readonly last: boolean }
  /** The provider reports a failure. All further events are ignored. */
  | { readonly type: 'error'; readonly error: ServiceError };

/**
 * One part of a completion, as its reader gets it. Neighbouring texts that arrived together are one part. The stream of
 * parts ends only when the answer is complete. A failure is thrown.
 *
 * @since 1.0
 */
export type CompletionPart = TextPart | ReasoningPart | UsagePart | FinishPart;
