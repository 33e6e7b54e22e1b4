import type { CompletionLease } from '../chat-caller.js';
import type { Principal } from '../../auth/principal/principal.js';
import { ExtensionPoint } from '../../platform/common/extensions/extensions.js';
import type { ConversationRequest } from '../../upstreams/contract/conversation.js';
import type { CompletionPart } from '../../upstreams/contract/stream-part.js';
import type { ChatRequest } from '../request/chat-request.dto.js';

/** What the caller reads. Until the first part that the caller reads, a failover to another provider is possible. */
export interface CompletionOptions {
  /** Whether the parts contain reasoning. By default, as `reasoning.include_text` of the request says. */
  readonly reasoning?: boolean | undefined;
  /** Whether the parts contain tool calls. By default, if the request offers tools. */
  readonly toolCalls?: boolean | undefined;
}

/**
 * One completion, for its hooks. All hooks get the same object, and each hook gets it in both methods.
 *
 * @since 1.0
 */
export interface HookContext {
  readonly principal: Principal;
  /** A client can send the same request id twice. */
  readonly requestId: string;
  /** The id that the record of the completion will have in the ledger. A completion that a hook refuses before its start has no record. */
  readonly recordId: string;
  /** Aborts when the completion is over, for any reason. */
  readonly signal: AbortSignal;
  /**
   * The reservation of the request, so that the daily tokens also count the completions that a hook makes: pass the context to
   * `ChatService` as the caller.
   */
  readonly lease?: CompletionLease | undefined;
  /** Whether the completions of the request may begin while the process stops. */
  readonly isAdmitted?: boolean | undefined;
  /** What the reader gets besides texts, if the request does not decide it. Compatible interfaces differ. */
  readonly options: CompletionOptions;
}

/**
 * Sees every completion, whether a client asked for it by `POST /chat/stream` or a plugin by `ChatService`. All methods are
 * optional. A hook refuses a completion by throwing a `ServiceError`; any other error is an `internal_error`.
 *
 * The first hook gets the request first and the parts last.
 *
 * @since 1.0
 */
export interface CompletionHook {
  /**
   * Returns the request to use: the same one, or a changed copy. Runs before the model is chosen and before anything is
   * recorded.
   *
   * A conversation with images or tools is shown as texts: each text, also of tool results and tool calls, is a message of its own.
   * The hook may change these texts and put system messages in front. Otherwise the completion fails.
   */
  transformRequest?(request: ChatRequest, context: HookContext): ChatRequest | Promise<ChatRequest>;
  /** Is called instead of {@link transformRequest}, for a hook that knows all kinds of messages. */
  transformConversation?(
    request: ConversationRequest,
    context: HookContext,
  ): ConversationRequest | Promise<ConversationRequest>;
  /**
   * Answers the request instead of the model, for example from a cache. Runs after the requests of all hooks are transformed, and after the
   * caller's right to use the model was checked. The first hook that returns parts answers. Its parts pass through `wrapStream` of all hooks as
   * those of a model do, and must end with a `finish` part. No provider is called. The record names the class of the hook as the upstream, and
   * costs nothing; tokens without a `usage` part are estimated.
   *
   * @returns `undefined` when the model has to answer.
   */
  answer?(
    request: ConversationRequest,
    context: HookContext,
  ): AsyncIterable<CompletionPart> | undefined | Promise<AsyncIterable<CompletionPart> | undefined>;
  /**
   * Returns the parts for the reader. Often an async generator that loops over `parts`. It must read `parts` to the end:
   * if it ends earlier, the answer is not complete, and the reader gets an `internal_error`.
   */
  wrapStream?(parts: AsyncIterable<CompletionPart>, context: HookContext): AsyncIterable<CompletionPart>;
}

export const COMPLETION_HOOKS = new ExtensionPoint<CompletionHook>('completionHooks');
