/**
 * A message of a conversation.
 *
 * @since 1.0
 */
export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/**
 * The body of `POST /chat/stream`, with the member names of the HTTP API.
 *
 * @since 1.0
 */
export interface ChatRequest {
  /** The `id` of a model, in the form `<vendor>/<model_name>`. */
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  /** From 0 to 2. The default is 0.7. */
  readonly temperature?: number | undefined;
  /** From 0 to 1. Without a temperature, the temperature then has no default. */
  readonly top_p?: number | undefined;
  /** One text, or up to four. The answer ends before the first of them. */
  readonly stop?: string | readonly string[] | undefined;
  /** A signed integer of 32 bits. */
  readonly seed?: number | undefined;
  /** From -2 to 2. */
  readonly presence_penalty?: number | undefined;
  /** From -2 to 2. */
  readonly frequency_penalty?: number | undefined;
  /** The maximum number of output tokens. The default is the limit of the tier. A number above a limit is refused. */
  readonly max_tokens?: number | undefined;
}

/**
 * An entry of `GET /chat/models`.
 *
 * @since 1.0
 */
export interface Model {
  readonly id: string;
  readonly name: string;
  readonly provider: string;
  /** In tokens. */
  readonly context_length: number;
}

/**
 * An answer that the provider has declared complete. There is no other way to get this type.
 *
 * @since 1.0
 */
export interface CompleteAnswer {
  readonly complete: true;
  readonly text: string;
  readonly requestId: string | undefined;
  readonly rateLimits: RateLimits | undefined;
}

/**
 * The state of one limit of the tier, as the headers of a response report it.
 *
 * @since 1.0
 */
export interface RateLimit {
  readonly limit: number;
  readonly remaining: number;
  /** In seconds from the time of the response. */
  readonly resetSeconds: number;
}

/**
 * The limits of the tier that the headers of a response report.
 *
 * @since 1.0
 */
export interface RateLimits {
  /** Requests per minute. `undefined` if the tier has no such limit. */
  readonly requests: RateLimit | undefined;
  /** Tokens per day. `undefined` if the tier has no such limit. */
  readonly tokens: RateLimit | undefined;
}

/**
 * What a stream has used and cost, from `GET /usage/streams/{request_id}`. A value that is not known is `null`.
 *
 * @since 1.0
 */
export interface Receipt {
  readonly request_id: string;
  readonly model: string;
  /** The name of the compatible interface, such as `messages`. `null`: none. A server of an earlier version leaves it out. */
  readonly surface?: string | null;
  /** How the stream ended, such as `completed` or `client_gone`. */
  readonly outcome: string;
  /** Why the model stopped, such as `stop`, or `length` for an answer that was cut off at the token limit. */
  readonly finish_reason: string | null;
  /** Times in ISO 8601. */
  readonly started_at: string;
  readonly first_text_at: string | null;
  readonly ended_at: string | null;
  readonly tokens: {
    readonly input: number | null;
    readonly cached_input: number | null;
    readonly cache_write_input: number | null;
    readonly output: number | null;
    readonly reasoning_output: number | null;
    readonly source: 'reported' | 'estimated' | 'unknown';
  };
  /** The number of complete tool calls of the answer. A server of an earlier version leaves it out. */
  readonly tool_calls?: number | null;
  /** In units of `currency`. */
  readonly cost: number | null;
  readonly currency: string | null;
  readonly attempts: readonly {
    readonly upstream: string;
    readonly code?: string | undefined;
    readonly duration_ms: number | null;
  }[];
  /** The sum of 2 to 100 completions with this request id. The other members are about the latest of them. */
  readonly total?: {
    readonly completions: number;
    readonly tokens: { readonly input: number | null; readonly output: number | null };
    readonly cost: number | null;
    readonly currency: string | null;
  };
}
