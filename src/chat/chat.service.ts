import { Injectable } from '@nestjs/common';
import { INVALID_TOKEN_CHALLENGE } from '../auth/bearer/bearer-header.js';
import { restrictionsOf, type Principal } from '../auth/principal/principal.js';
import { ServiceError } from '../platform/common/service-error.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { CLIENT_GONE, type PartReader } from '../upstreams/completion/part-stream.js';
import type { ConversationRequest } from '../upstreams/contract/conversation.js';
import type { CompletionPart } from '../upstreams/contract/stream-part.js';
import { promptTokens, promptTokensNow, type PromptContents } from '../upstreams/tokens/prompt-tokens.js';
import { ModelRouter } from '../upstreams/routing/model-router.js';
import type { CompletionRequest } from '../upstreams/routing/failover-stream.js';
import { RequestLimiter } from '../throttling/request-limiter.js';
import { UsageLedger } from '../usage/ledger/usage-ledger.js';
import type { UsageRecord } from '../usage/record/usage-record.js';
import { costBound } from '../usage/budgets/reserved-cost.js';
import { SpendBudgets } from '../usage/budgets/spend-budgets.js';
import type { ChatCaller, CompletionLease } from './chat-caller.js';
import type { CompletionOptions, HookContext } from './hooks/completion-hook.js';
import { CompletionHooks } from './hooks/completion-hooks.js';
import { completionOf, type Completion } from './answer-contents.js';
import { ConversationValidation } from './request/conversation/conversation-validation.js';
import { maxAnswerTokens, maxTokensOf, requestedContents } from './request/requested-contents.js';
import { tokenDemand, withinGrant } from './request/token-demand.js';
import { RunningCompletion, type HookedCompletion, type RecordedParts } from './running-completion.js';
import { headersDue } from './stream/deferred-headers.js';
import { IteratedStream } from './stream/iterated-stream.js';
import { OpenStreams } from './stream/open-streams.js';

/** A complete answer, and its record in the ledger. */
interface RecordedCompletion extends Completion {
  /** The token counts and the cost. A count that the provider has not reported is estimated, and has the source `estimated`. */
  readonly record: UsageRecord;
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
    private readonly validation: ConversationValidation,
    private readonly budgets: SpendBudgets,
    private readonly limiter: RequestLimiter,
  ) {}

  /**
   * Returns the complete answer.
   *
   * @throws {ServiceError} when the request is invalid, when a limit refuses it, and when there is no complete answer.
   */
  async complete(
    request: ConversationRequest,
    caller: ChatCaller,
    options?: CompletionOptions,
  ): Promise<RecordedCompletion> {
    const parts = await this.stream(request, caller, options);
    return { ...(await completionOf(parts)), record: await parts.record };
  }

  /**
   * Estimates the tokens of a prompt, as the service does where a provider reports none. The estimate is within about 10 % of the
   * tokenizers of large providers.
   */
  estimateTokens(prompt: PromptContents): number {
    return promptTokensNow(prompt).estimated;
  }

  /**
   * Returns a valid copy of a request that a plugin has built, for {@link open}.
   *
   * @throws {ServiceError} `invalid_request` with the invalid members.
   */
  validated(request: ConversationRequest): Promise<ConversationRequest> {
    return this.validation.validated(request);
  }

  /**
   * Starts a completion. Resolves when the answer can begin. Iterate over the parts, or `return()` them: a completion that
   * is not read runs until its time limits.
   *
   * @returns the parts as they arrive, with the record of the ledger. They end only after the provider has marked the answer as
   * complete. Otherwise the iteration rejects.
   * @throws {ServiceError} when the request is invalid, and when the answer cannot begin.
   */
  async stream(request: ConversationRequest, caller: ChatCaller, options?: CompletionOptions): Promise<RecordedParts> {
    const valid = await this.validated(request).catch((error: unknown) => {
      release(caller.lease);
      throw error;
    });
    return this.open(valid, await this.admitted(valid, caller), options);
  }

  private async admitted(request: ConversationRequest, caller: ChatCaller): Promise<ChatCaller> {
    if (caller.isLimited !== true || caller.lease !== undefined) return caller;
    const tokenUse = { tokensOf: tokenDemand };
    return { ...caller, lease: await this.limiter.admitCompletion(caller.principal, request, tokenUse) };
  }

  /** @throws {ServiceError} `model_not_found` when the caller may not use the model. */
  checkModel(id: string, principal: Principal): void {
    this.catalog.get(id, restrictionsOf(principal));
  }

  /** As {@link stream}, for a request that is validated. */
  async open(
    request: ConversationRequest,
    caller: ChatCaller,
    options: CompletionOptions = {},
  ): Promise<RecordedParts> {
    try {
      return this.hooks.isEmpty
        ? await this.begin(request, request, caller, options, undefined)
        : await this.beginHooked(request, caller, options);
    } catch (error) {
      release(caller.lease);
      throw error;
    }
  }

  /**
   * Makes one answer of several completions, for `StreamSender`: the parts that `steps` returns. Resolves when the answer can begin. A
   * revoked key, a client that leaves and the end of the grace period at the shutdown stop all completions, also between two of them.
   *
   * @param steps makes the completions with the caller that it gets, and returns their parts, the last one a `finish`. Without it, the
   * answer is not complete.
   * @throws {ServiceError} when the answer cannot begin.
   * @example
   * ```ts
   * const parts = await chat.compose(async function* (own) {
   *   const { text } = await chat.complete(outline, own);
   *   yield* await chat.stream(requestFor(text), own);
   * }, caller);
   * ```
   */
  async compose(steps: (caller: ChatCaller) => AsyncIterable<CompletionPart>, caller: ChatCaller): Promise<PartReader> {
    const all = new AbortController();
    const signal = AbortSignal.any([caller.signal, all.signal]);
    let isComplete = false;
    const counted = async function* (): AsyncIterable<CompletionPart> {
      for await (const part of steps({ ...caller, signal })) {
        isComplete ||= part.type === 'finish';
        yield part;
      }
    };
    const source = {
      accepted: Promise.resolve(),
      get isComplete() {
        return isComplete;
      },
      stop: (reason: Error): void => {
        all.abort(reason);
      },
    };
    const gone = (): void => {
      parts.stop(CLIENT_GONE);
    };
    let leave = (): void => undefined;
    const parts = new IteratedStream('A plugin', source, counted(), () => {
      caller.signal.removeEventListener('abort', gone);
      leave();
    });
    caller.signal.addEventListener('abort', gone);
    leave = this.openStreams.addReader(caller.principal, (reason) => {
      parts.stop(reason);
    });
    try {
      await headersDue(parts.started, parts.accepted, caller.waitedMs);
      return parts;
    } catch (error) {
      throw beforeHeaders(error);
    }
  }

  private async beginHooked(
    request: ConversationRequest,
    caller: ChatCaller,
    options: CompletionOptions,
  ): Promise<RecordedParts> {
    const { principal, requestId, signal, isAdmitted } = caller;
    const over = new AbortController();
    const end = (): void => {
      signal.removeEventListener('abort', end);
      over.abort();
    };
    signal.addEventListener('abort', end);
    const { hooks } = this;
    const lease = caller.lease?.part?.();
    const recordId = this.ledger.newId();
    const context: HookContext = { principal, requestId, recordId, signal: over.signal, lease, isAdmitted, options };
    try {
      const transformed = await notCounted(hooks.transform(request, context), caller);
      return await this.begin(transformed, request, caller, options, { hooks, context, end });
    } catch (error) {
      end();
      throw error;
    }
  }

  /** @param reservedFor the request before the hooks, for which the tokens were reserved. */
  private async begin(
    request: ConversationRequest,
    reservedFor: ConversationRequest,
    caller: ChatCaller,
    { reasoning, toolCalls }: CompletionOptions,
    hooked: HookedCompletion | undefined,
  ): Promise<RecordedParts> {
    const { accountId, tier } = caller.principal;
    const contents = requestedContents(request);
    const asked = this.router.supporting(this.catalog.get(request.model, restrictionsOf(caller.principal)), contents);
    // Without hooks, nothing is awaited.
    const answer = hooked && (await notCounted(hooked.hooks.answerTo(request, hooked.context), caller));
    const model = answer === undefined ? asked : this.router.answering(asked, answer.name, answer.parts);
    const counted = promptTokens(request);
    const prompt = counted instanceof Promise ? await counted : counted;
    const granted = caller.lease?.tokens;
    let maxTokens = maxTokensOf(request, model, tier);
    if (granted !== undefined) {
      const reserved = request === reservedFor ? prompt : await promptTokens(reservedFor);
      const shortage = granted > reserved.atMost ? undefined : caller.lease?.shortage?.(reserved.atMost + 1);
      if (shortage !== undefined) throw shortage;
      maxTokens = withinGrant(maxTokens ?? maxAnswerTokens(model, prompt.estimated), granted, reserved.atMost);
    }
    const planned: CompletionRequest = {
      ...contents,
      accountId,
      maxTokens,
      readsReasoning: reasoning ?? request.reasoning?.include_text ?? false,
      readsToolCalls: toolCalls ?? request.tools !== undefined,
    };
    const reserve = () => {
      const answerTokens = maxTokens ?? maxAnswerTokens(model, prompt.estimated);
      const bound = costBound(model, prompt.atMost, answerTokens, request.max_tokens !== undefined);
      return this.budgets.reserve(caller.principal, bound, hooked?.context.recordId ?? this.ledger.newId());
    };
    const isLimited = answer === undefined && this.budgets.limits(caller.principal);
    const running = new RunningCompletion(caller, prompt.estimated, hooked, this.openStreams);
    try {
      return await running.begin(
        { model, request: planned, reserve: isLimited ? reserve : undefined },
        this.router,
        this.ledger,
      );
    } catch (error) {
      throw beforeHeaders(error);
    }
  }
}

/** Releases a lease. The lease of a request ends with the response, and knows by itself which completions have begun. */
function release(lease: CompletionLease | undefined): void {
  if (lease?.takeOver === undefined) lease?.settle(0);
  lease?.release();
}

/** Waits for the hooks. The limits do not count a request that a hook refuses. */
async function notCounted<Result>(hooks: Promise<Result>, { lease }: ChatCaller): Promise<Result> {
  try {
    return await hooks;
  } catch (error) {
    if (error instanceof ServiceError) await lease?.giveBack?.();
    throw error;
  }
}

/** Converts the error of a revoked key to `unauthenticated`, for the time before the headers are sent. */
function beforeHeaders(error: unknown): unknown {
  if (!(error instanceof ServiceError) || error.code !== 'key_revoked') return error;
  const { message } = error;
  return new ServiceError('unauthenticated', message, { headers: { 'WWW-Authenticate': INVALID_TOKEN_CHALLENGE } });
}
