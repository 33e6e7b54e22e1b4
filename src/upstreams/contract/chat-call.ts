import type { Capability, GenerationOptions, ThinkingKind } from '../../platform/config/capabilities.js';
import type { Message, ReasoningOptions, ResponseFormat, Tool, ToolChoice } from './conversation.js';

export type Role = 'system' | 'user' | 'assistant';

/** A message of one plain text. */
export interface ChatMessage {
  readonly role: Role;
  readonly content: string;
}

/**
 * One completion request to one provider: the validated request with the names that the provider uses.
 *
 * @since 1.0
 */
export interface ChatCall {
  /** The provider's name of the model. */
  readonly model: string;
  /** For a protocol without capabilities, each content is a string. */
  readonly messages: readonly Message[];
  /** Only options that the protocol and the route take. */
  readonly options: GenerationOptions;
  /** The maximum number of tokens of the answer, at least 1. `undefined`: only the limit of the model applies. */
  readonly maxTokens: number | undefined;
  /**
   * The maximum number of tokens that the model can write in one answer. `undefined`: the catalog does not contain the
   * number.
   */
  readonly modelMaxOutputTokens: number | undefined;
  /** What the model can take besides texts. `undefined`: the catalog does not say. */
  readonly modelCapabilities?: readonly Capability[] | undefined;
  /** How the model takes an effort of reasoning. `undefined`: the catalog does not say. */
  readonly modelThinking?: ThinkingKind | undefined;
  /** Only for a protocol with the capability `tools`. Not empty. */
  readonly tools?: readonly Tool[] | undefined;
  readonly toolChoice?: ToolChoice | undefined;
  readonly parallelToolCalls?: boolean | undefined;
  /** Only for a protocol with the capability `structured_output`. */
  readonly responseFormat?: ResponseFormat | undefined;
  /** A protocol without the capability `reasoning` ignores it: then no effort is asked for. */
  readonly reasoning?: ReasoningOptions | undefined;
  /** An opaque id of the person for whom the request is made. */
  readonly user?: string | undefined;
}
