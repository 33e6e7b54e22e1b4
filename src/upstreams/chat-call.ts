export type Role = 'system' | 'user' | 'assistant';

export interface ChatMessage {
  readonly role: Role;
  readonly content: string;
}

/** One completion to ask of one vendor: the validated request with the names that the vendor knows. */
export interface ChatCall {
  /** The vendor's own name of the model. */
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  /** 0…2. `undefined`: the model takes none. */
  readonly temperature: number | undefined;
  /** Tokens, at least 1. `undefined`: no limit but the model's own. */
  readonly maxTokens: number | undefined;
  /** Most tokens that the model can write in one answer, where the catalog knows it. */
  readonly modelMaxOutputTokens: number | undefined;
}
