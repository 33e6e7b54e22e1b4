import { Injectable } from '@nestjs/common';
import type { Principal } from '../auth/principal/principal.js';
import { INVALID_TOKEN_CHALLENGE } from '../auth/strategies/challenge.js';
import { ServiceError } from '../common/service-error.js';
import type { ModelConfig, TierConfig } from '../config/config.js';
import type { RequestContext } from '../http/request/request-context.js';
import { ModelCatalog } from '../models/model-catalog.js';
import type { RequestLease } from '../throttling/request-lease.js';
import { CallTrace } from '../upstreams/completion/call-trace.js';
import { CLIENT_GONE, type CompletionStream } from '../upstreams/completion/completion-stream.js';
import { ModelRouter } from '../upstreams/model-router.js';
import { UsageLedger } from '../usage/ledger/usage-ledger.js';
import { quotaTokens } from '../usage/record/token-counts.js';
import { DEFAULT_TEMPERATURE, type ChatRequest } from './request/chat-request.dto.js';
import { withinGrant } from './request/token-demand.js';
import { headersDue } from './stream/header-wait.js';
import { OpenStreams } from './stream/open-streams.js';

/** The caller of {@link ChatService.open}. */
export interface ChatCaller {
  readonly principal: Principal;
  /** Aborts when the client has left. This stops the work of the provider. */
  readonly left: AbortSignal;
  readonly requestId: string;
  /** The reservation from the limits of the account, if the account has limits. */
  readonly lease?: RequestLease | undefined;
  /** The request, if observers of the request wait for the usage record of the stream. */
  readonly context?: RequestContext;
}

/** Answers conversations with streamed completions. */
@Injectable()
export class ChatService {
  constructor(
    private readonly catalog: ModelCatalog,
    private readonly router: ModelRouter,
    private readonly openStreams: OpenStreams,
    private readonly ledger: UsageLedger,
  ) {}

  /**
   * Starts a completion. Resolves when the answer can begin.
   *
   * @returns the text as it arrives. The iteration ends only after the provider has marked the answer as complete.
   * Otherwise the iteration rejects.
   * @throws {ServiceError} when the answer cannot begin.
   */
  async open(
    request: ChatRequest,
    { principal, left, requestId, lease, context }: ChatCaller,
  ): Promise<CompletionStream> {
    const model = this.catalog.get(request.model);
    const completion = {
      messages: request.messages,
      temperature: request.temperature ?? DEFAULT_TEMPERATURE,
      accountId: principal.accountId,
      maxTokens: withinGrant(maxTokensOf(request, model, principal.tier), request, principal.tier, lease),
    };
    left.throwIfAborted();
    const leave = (): void => {
      stream.stop(CLIENT_GONE);
    };
    const remove = this.openStreams.add(principal, (reason) => {
      stream.stop(reason);
    });
    const entry = this.ledger.begin(requestId, principal, model);
    if (context !== undefined) context.ledgerEntry = entry;
    lease?.takeOver();
    const trace = new CallTrace(requestId);
    const stream = this.router.stream(model, completion, trace, (failure) => {
      remove();
      left.removeEventListener('abort', leave);
      const record = entry.end(failure, trace, request.messages);
      lease?.settle(quotaTokens(record));
    });
    left.addEventListener('abort', leave);
    try {
      await headersDue(stream.begun, stream.accepted);
      return stream;
    } catch (error) {
      stream.stop(CLIENT_GONE);
      throw error instanceof ServiceError && error.code === 'key_revoked' ? refusedKey(error) : error;
    } finally {
      await entry.kept;
    }
  }
}

/** Converts the error of a revoked key to `unauthenticated`, for the time before the headers are sent. */
function refusedKey({ message }: ServiceError): ServiceError {
  return new ServiceError('unauthenticated', message, { headers: { 'WWW-Authenticate': INVALID_TOKEN_CHALLENGE } });
}

/**
 * Returns the token limit for the provider: the requested limit, or otherwise the limit of the tier within the limits of the
 * model. `undefined`: the request and the tier have no limit.
 *
 * @throws {ServiceError} `invalid_request` when the requested limit is too high for the model or the tier.
 */
function maxTokensOf(request: ChatRequest, model: ModelConfig, tier: TierConfig): number | undefined {
  const limits: [number | undefined, string][] = [
    [model.contextLength, 'the context length of the model'],
    [model.maxOutputTokens, 'what the model can generate'],
    [tier.maxTokens, `what the tier ${tier.name} allows`],
  ];
  const asked = request.max_tokens;
  if (asked === undefined) {
    return tier.maxTokens && Math.min(tier.maxTokens, model.maxOutputTokens ?? Infinity, model.contextLength);
  }
  for (const [limit, what] of limits) {
    if (limit === undefined || asked <= limit) continue;
    const message = `must not be above ${limit}, ${what}`;
    throw new ServiceError('invalid_request', `max_tokens ${message}.`, {
      details: [{ field: 'max_tokens', message }],
    });
  }
  return asked;
}
