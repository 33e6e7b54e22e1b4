export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** The body of `POST /chat/stream`, with the member names of the HTTP API. */
export interface ChatRequest {
  /** The `id` of a model, in the form `<vendor>/<model_name>`. */
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  /** From 0 to 2. The default is 0.7. */
  readonly temperature?: number | undefined;
  readonly max_tokens?: number | undefined;
}

/** An entry of `GET /chat/models`. */
export interface Model {
  readonly id: string;
  readonly name: string;
  readonly provider: string;
  /** In tokens. */
  readonly context_length: number;
}

/** An answer that the provider has declared complete. There is no other way to get this type. */
export interface CompleteAnswer {
  readonly complete: true;
  readonly text: string;
  readonly requestId: string | undefined;
  readonly rateLimits: RateLimits | undefined;
}

/** The state of one limit of the tier, as the headers of a response report it. */
export interface RateLimit {
  readonly limit: number;
  readonly remaining: number;
  /** In seconds from the time of the response. */
  readonly resetSeconds: number;
}

export interface RateLimits {
  /** Requests per minute. `undefined` if the tier has no such limit. */
  readonly requests: RateLimit | undefined;
  /** Tokens per day. `undefined` if the tier has no such limit. */
  readonly tokens: RateLimit | undefined;
}
