import { Injectable } from '@nestjs/common';
import { INVALID_TOKEN_CHALLENGE } from '../auth/strategies/challenge.js';
import { ServiceError } from '../common/service-error.js';
import { refuseAny } from '../http/request/invalid-request.js';
import { ModelCatalog } from '../models/model-catalog.js';
import type { Lease } from '../throttling/limit-store.js';
import { RequestLease } from '../throttling/request-lease.js';
import { CallTrace } from '../upstreams/completion/call-trace.js';
import { CLIENT_GONE } from '../upstreams/completion/completion-stream.js';
import type { PartReader } from '../upstreams/completion/part-reader.js';
import type { CompletionPart, FinishReason, TokenUsage } from '../upstreams/contract/stream-part.js';
import { ModelRouter } from '../upstreams/model-router.js';
import { UsageLedger } from '../usage/ledger/usage-ledger.js';
import { quotaTokens } from '../usage/record/token-counts.js';
import type { ChatCaller } from './chat-caller.js';
import type { HookContext } from './hooks/completion-hook.js';
import { CompletionHooks } from './hooks/completion-hooks.js';
import { DEFAULT_TEMPERATURE, type ChatRequest } from './request/chat-request.dto.js';
import { chatRequestProblems } from './request/chat-request.rules.js';
import { maxTokensOf } from './request/max-tokens.js';
import { withinGrant } from './request/token-demand.js';
import { headersDue } from './stream/header-wait.js';
import { OpenStreams } from './stream/open-streams.js';

/** The maximum length of the text that {@link ChatService.complete} collects, in UTF-16 units. */
const LONGEST_COMPLETION = 8 * 1024 * 1024;

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

/** Answers conversations. Each completion passes through the hooks of the plugins, and gets one record in the ledger. */
@Injectable()
export class ChatService {
  constructor(
    private readonly catalog: ModelCatalog,
    private readonly router: ModelRouter,
    private readonly openStreams: OpenStreams,
    private readonly ledger: UsageLedger,
    private readonly hooks: CompletionHooks,
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
      if (text.length > LONGEST_COMPLETION) throw new ServiceError('upstream_error', 'The answer is too long.');
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
  async stream(
    request: ChatRequest,
    caller: ChatCaller,
    options?: StreamOptions,
  ): Promise<AsyncIterableIterator<CompletionPart, undefined>> {
    try {
      refuseAny(chatRequestProblems(request));
    } catch (error) {
      giveBack(caller.lease);
      throw error;
    }
    return this.open(request, caller, options);
  }

  /** As {@link stream}, for a request that is validated. */
  async open(request: ChatRequest, caller: ChatCaller, options: StreamOptions = {}): Promise<PartReader> {
    try {
      return this.hooks.isEmpty
        ? await this.begin(request, caller, options)
        : await this.beginHooked(request, caller, options);
    } catch (error) {
      giveBack(caller.lease);
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
    const context: HookContext = { principal, requestId, signal: over.signal };
    try {
      const transformed = await this.hooks.transform(request, context);
      return await this.begin(transformed, caller, options, { asked: request, context, end });
    } catch (error) {
      end();
      throw error;
    }
  }

  private async begin(
    request: ChatRequest,
    { principal, signal, requestId, lease, context, detached }: ChatCaller,
    { reasoning = false }: StreamOptions,
    hooked?: HookedCompletion,
  ): Promise<PartReader> {
    const model = this.catalog.get(request.model);
    const { tier } = principal;
    const completion = {
      messages: request.messages,
      temperature: request.temperature ?? DEFAULT_TEMPERATURE,
      accountId: principal.accountId,
      maxTokens: withinGrant(maxTokensOf(request, model, tier), request, tier, lease, hooked?.asked),
      reasoning,
    };
    signal.throwIfAborted();
    const leave = (): void => {
      parts.stop(CLIENT_GONE);
    };
    const remove = this.openStreams.add(principal, (reason) => {
      parts.stop(reason);
    });
    const entry = this.ledger.begin(requestId, principal, model, detached);
    if (context !== undefined) context.ledgerEntry = entry;
    if (lease instanceof RequestLease) lease.takeOver();
    const trace = new CallTrace(requestId);
    const over = (failure?: unknown): void => {
      remove();
      signal.removeEventListener('abort', leave);
      const record = entry.end(failure, trace, request.messages);
      lease?.settle(quotaTokens(record));
      giveBack(lease);
      hooked?.end();
    };
    const wrap = hooked !== undefined && this.hooks.wrapsStreams;
    const stream = this.router.stream(model, completion, trace, wrap ? () => undefined : over);
    const parts: PartReader = wrap ? this.hooks.wrap(stream, hooked.context, over) : stream;
    signal.addEventListener('abort', leave);
    try {
      await headersDue(parts.begun, parts.accepted);
      return parts;
    } catch (error) {
      parts.stop(CLIENT_GONE);
      throw error instanceof ServiceError && error.code === 'key_revoked' ? refusedKey(error) : error;
    } finally {
      await entry.kept;
    }
  }
}

/** A completion that passes through hooks. */
interface HookedCompletion {
  /** The request before the hooks. */
  readonly asked: ChatRequest;
  readonly context: HookContext;
  /** Ends the signal of the context. */
  end(): void;
}

/** Gives back what is left of a lease that belongs to no request. The lease of a request ends with its response. */
function giveBack(lease: Lease | undefined): void {
  if (lease === undefined || lease instanceof RequestLease) return;
  lease.settle(0);
  lease.release();
}

/** Converts the error of a revoked key to `unauthenticated`, for the time before the headers are sent. */
function refusedKey({ message }: ServiceError): ServiceError {
  return new ServiceError('unauthenticated', message, { headers: { 'WWW-Authenticate': INVALID_TOKEN_CHALLENGE } });
}
