import type { ServiceError } from '../../platform/common/service-error.js';

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

/**
 * The reason for the end of the answer. The member `raw` next to the reason keeps the provider's own word. The service replaces
 * `stop` by `tool_calls` if the answer has tool calls. `other`: the reason is unknown, and the answer is not complete.
 */
export type FinishReason = 'stop' | 'length' | 'content_filter' | 'tool_calls' | 'other';

/** A piece of the answer. `text` is not empty. */
export interface TextPart {
  readonly type: 'text';
  readonly text: string;
}

/**
 * A piece of the reasoning before or between the pieces of the answer. It is not part of the answer. A part with `signature` or
 * `encrypted` is the last one of its block: later reasoning is a new block.
 */
export interface ReasoningPart {
  readonly type: 'reasoning';
  /** Empty only next to a signature or an encrypted form. */
  readonly text: string;
  /** The proof of the provider that the text of the block is its own. Opaque. The next turn sends it back. */
  readonly signature?: string | undefined;
  /** The block in a form that only the provider can read. Opaque. The next turn sends it back. */
  readonly encrypted?: string | undefined;
}

/** The model begins to call a tool. Several calls can be open at the same time. */
export interface ToolCallStartPart {
  readonly type: 'tool_call_start';
  /** Not empty, and different for each call of the answer. A protocol makes an id if its provider sends none. */
  readonly id: string;
  readonly name: string;
  /** The position among the calls of the answer, from 0. The service counts again, in the order of the starts. */
  readonly index: number;
  /** See {@link ReasoningPart.signature}. Opaque. */
  readonly signature?: string | undefined;
}

/** A piece of the arguments of an open call, as the model has written it. Not empty. */
export interface ToolCallDeltaPart {
  readonly type: 'tool_call_delta';
  readonly id: string;
  readonly json: string;
}

/**
 * The arguments of a call are complete. A protocol returns this part only when its provider has ended the call: never for a call
 * that was cut off. Without any arguments, the arguments are `{}`. Arguments that are no JSON object are passed on, unless the limit
 * of tokens has cut them. If a call is open or cut when the answer is complete, the answer fails with `upstream_error`.
 */
export interface ToolCallEndPart {
  readonly type: 'tool_call_end';
  readonly id: string;
}

/** The parts of the tool calls. A reader gets them if its request offers tools. */
export type ToolCallPart = ToolCallStartPart | ToolCallDeltaPart | ToolCallEndPart;

/** The token counts so far. Later counts replace earlier counts, member by member, but a later 0 replaces no count. */
interface UsagePart {
  readonly type: 'usage';
  readonly usage: TokenUsage;
}

export interface FinishPart {
  readonly type: 'finish';
  readonly reason: FinishReason;
  /** The provider's own word. The service replaces a word that no known provider has by the reason. */
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
  | ToolCallPart
  /** The provider works on the answer (for example, hidden reasoning) without text. Resets the timers. */
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
export type CompletionPart = TextPart | ReasoningPart | ToolCallPart | UsagePart | FinishPart;
