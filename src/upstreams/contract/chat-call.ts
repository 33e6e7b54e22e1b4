import type { Capability, GenerationOptions, ThinkingKind } from '../../platform/config/capabilities.js';
import type { Message, ReasoningOptions, ResponseFormat, Tool, ToolChoice } from './conversation.js';
import type { RequestInit, Response } from 'undici';

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

/**
 * What a protocol may need to know about one attempt, and what it may use.
 *
 * @since 1.0
 */
export interface CallContext {
  /** The id of the client's request, as in `X-Request-Id` and in the log. */
  readonly requestId: string;
  readonly accountId: string;
  /** Aborts when the attempt is over: the client has left, a time limit has expired, or the answer has ended. */
  readonly signal: AbortSignal;
  /**
   * Sends a request over the connections of the service, for example to fetch a token. It uses the connect timeout of the
   * upstream and counts for the limit of connections. It ends with the attempt. A protocol need not catch a failed
   * connection: the attempt then fails as if the connection to the provider had failed.
   */
  fetch(url: string | URL, init?: Omit<RequestInit, 'dispatcher'>): Promise<Response>;
  /**
   * Sets what to do when the attempt is over: for example, to cancel a job. It runs once, also if the attempt is over already. Its
   * errors are ignored. It is not awaited, and a killed process does not run it, so the provider needs a time limit, too.
   *
   * @param cleanUp gets a `fetch` that works after the attempt, for 10 seconds.
   */
  afterAttempt(cleanUp: CleanUp): void;
}

/** @param end `complete`: the answer is complete. `stopped`: the client has left, or the service stops. `failed`: any other end. */
export type CleanUp = (fetch: CallContext['fetch'], end: 'complete' | 'stopped' | 'failed') => Promise<unknown>;
