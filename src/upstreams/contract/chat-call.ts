export type Role = 'system' | 'user' | 'assistant';

export interface ChatMessage {
  readonly role: Role;
  readonly content: string;
}

/** One completion request to one provider: the validated request with the names that the provider uses. */
export interface ChatCall {
  /** The provider's name of the model. */
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  /** From 0 to 2. `undefined`: the model does not accept a temperature. */
  readonly temperature: number | undefined;
  /** The maximum number of tokens of the answer, at least 1. `undefined`: only the limit of the model applies. */
  readonly maxTokens: number | undefined;
  /**
   * The maximum number of tokens that the model can write in one answer. `undefined`: the catalog does not contain the
   * number.
   */
  readonly modelMaxOutputTokens: number | undefined;
}
