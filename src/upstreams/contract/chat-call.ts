import type { GenerationOptions } from '../../config/generation-options.js';

export type Role = 'system' | 'user' | 'assistant';

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
  readonly messages: readonly ChatMessage[];
  /** Only options that the protocol and the route take. */
  readonly options: GenerationOptions;
  /** The maximum number of tokens of the answer, at least 1. `undefined`: only the limit of the model applies. */
  readonly maxTokens: number | undefined;
  /**
   * The maximum number of tokens that the model can write in one answer. `undefined`: the catalog does not contain the
   * number.
   */
  readonly modelMaxOutputTokens: number | undefined;
}
