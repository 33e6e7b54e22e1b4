import { Injectable } from '@nestjs/common';
import { restrictionsOf, type Principal } from '../auth/principal/principal.js';
import { ServiceError } from '../common/service-error.js';
import { RequestValidationPipe } from '../http/request/request-validation.pipe.js';
import { ModelCatalog } from '../models/model-catalog.js';
import type { Lease } from '../throttling/limit-store.js';
import type { PartReader } from '../upstreams/completion/part-reader.js';
import type { FinishReason, TokenUsage } from '../upstreams/contract/stream-part.js';
import { ModelRouter } from '../upstreams/routing/model-router.js';
import type { CompletionRequest } from '../upstreams/routing/routed-completion.js';
import { UsageLedger } from '../usage/ledger/usage-ledger.js';
import { samplePrompt } from '../usage/record/token-estimate.js';
import type { ChatCaller } from './chat-caller.js';
import type { HookContext } from './hooks/completion-hook.js';
import { CompletionHooks } from './hooks/completion-hooks.js';
import { ChatRequest } from './request/chat-request.dto.js';
import { maxTokensOf } from './request/max-tokens.js';
import { requestedOptions } from './request/requested-options.js';
import { withinGrant } from './request/token-demand.js';
import { RunningCompletion, type HookedCompletion } from './running-completion.js';
import { OpenStreams } from './stream/open-streams.js';

/** The maximum length of the text that {@link ChatService.complete} collects, in UTF-16 units. */
const MAX_COMPLETION_LENGTH = 8 * 1024 * 1024;

export interface StreamOptions {
  /** Whether the parts contain reasoning. By default they do not, and a failover is possible until the first text. */
  readonly reasoning?: boolean;
}

/** A complete answer. */
export interface Completion {
  readonly text: string;
  readonly finishReason: FinishReason;
  /** The token counts that the provider has reported. */
  readonly usage: TokenUsage;
}

/**
 * Answers conversations. Each completion passes through the hooks of the plugins, and gets one record in the ledger.
 *
 * @since 1.0
 */
@Injectable()
export class ChatService {
  constructor(
    private readonly catalog: ModelCatalog,
    private readonly router: ModelRouter,
    private readonly openStreams: OpenStreams,
    private readonly ledger: UsageLedger,
    private readonly hooks: CompletionHooks,
    private readonly validation: RequestValidationPipe,
  ) {}

  /**
   * Returns the complete answer.
   *
   * @throws {ServiceError} when the request is invalid, and when there is no complete answer.
   */
  async complete(request: ChatRequest, caller: ChatCaller): Promise<Completion> {
    let text = '';
    let finishReason: FinishReason = 'other';
    let usage: TokenUsage = {};
    for await (const part of await this.stream(request, caller)) {
      if (part.type === 'text') text += part.text;
      else if (part.type === 'finish') finishReason = part.reason;
      else if (part.type === 'usage') usage = { ...usage, ...part.usage };
      if (text.length > MAX_COMPLETION_LENGTH) throw new ServiceError('upstream_error', 'The answer is too long.');
    }
    return { text, finishReason, usage };
  }

  /**
   * Starts a completion. Resolves when the answer can begin. Iterate over the parts, or `return()` them: a completion that
   * is not read runs until its time limits.
   *
   * @returns the parts as they arrive. They end only after the provider has marked the answer as complete. Otherwise the
   * iteration rejects.
   * @throws {ServiceError} when the request is invalid, and when the answer cannot begin.
   */
  async stream(request: ChatRequest, caller: ChatCaller, options?: StreamOptions): Promise<PartReader> {
    let valid: ChatRequest;
    try {
      valid = await this.validation.validated(request, ChatRequest);
    } catch (error) {
      release(caller.lease);
      throw error;
    }
    return this.open(valid, caller, options);
  }

  /** @throws {ServiceError} `model_not_found` when the caller may not use the model. */
  checkModel(id: string, principal: Principal): void {
    this.catalog.get(id, restrictionsOf(principal));
  }

  /** As {@link stream}, for a request that is validated. */
  async open(request: ChatRequest, caller: ChatCaller, options: StreamOptions = {}): Promise<PartReader> {
    try {
      return this.hooks.isEmpty
        ? await this.begin(request, request, caller, options, undefined)
        : await this.beginHooked(request, caller, options);
    } catch (error) {
      release(caller.lease);
      throw error;
    }
  }

  private async beginHooked(request: ChatRequest, caller: ChatCaller, options: StreamOptions): Promise<PartReader> {
    const { principal, requestId, signal } = caller;
    const over = new AbortController();
    const end = (): void => {
      signal.removeEventListener('abort', end);
      over.abort();
    };
    signal.addEventListener('abort', end);
    const { hooks } = this;
    const context: HookContext = { principal, requestId, signal: over.signal };
    try {
      const transformed = await hooks.transform(request, context);
      return await this.begin(transformed, request, caller, options, { hooks, context, end });
    } catch (error) {
      end();
      throw error;
    }
  }

  /** @param reservedFor the request before the hooks, for which the tokens were reserved. */
  private begin(
    request: ChatRequest,
    reservedFor: ChatRequest,
    caller: ChatCaller,
    { reasoning = false }: StreamOptions,
    hooked: HookedCompletion | undefined,
  ): Promise<PartReader> {
    const { accountId, tier } = caller.principal;
    const options = requestedOptions(request);
    const model = this.router.supporting(this.catalog.get(request.model, restrictionsOf(caller.principal)), options);
    const completion: CompletionRequest = {
      messages: request.messages,
      options,
      accountId,
      maxTokens: withinGrant(maxTokensOf(request, model, tier), request, tier, caller.lease, reservedFor),
      reasoning,
    };
    caller.signal.throwIfAborted();
    const running = new RunningCompletion(caller, samplePrompt(request.messages), hooked);
    running.register(model, this.openStreams, this.ledger);
    running.start(model, completion, this.router);
    return running.begun();
  }
}

/** Releases what is left of a lease. Has no effect on the lease of a request, which ends with the response. */
function release(lease: Lease | undefined): void {
  lease?.settle(0);
  lease?.release();
}
