import { Injectable } from '@nestjs/common';
import type { Principal } from '../auth/principal.js';
import { ServiceError } from '../common/service-error.js';
import type { ModelConfig, TierConfig } from '../config/config.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { newCallTrace } from '../upstreams/call-trace.js';
import { ModelRouter } from '../upstreams/model-router.js';
import { AnswerStream } from './answer-stream.js';
import { DEFAULT_TEMPERATURE, type ChatRequest } from './chat-request.dto.js';
import { headersDue } from './header-wait.js';
import { OpenStreams } from './open-streams.js';

/** How long the client's headers wait for the first text of a vendor that has taken the request. */
const HEADERS_WAIT_MS = 10_000;

/** Who asks for an answer. */
export interface ChatCaller {
  readonly principal: Principal;
  /** Aborts when the client has gone, which stops the vendor's work. */
  readonly left: AbortSignal;
  readonly requestId: string;
}

/** Gets answers to conversations. */
@Injectable()
export class ChatService {
  constructor(
    private readonly catalog: ModelCatalog,
    private readonly router: ModelRouter,
    private readonly openStreams: OpenStreams,
  ) {}

  /**
   * Resolves once the answer can begin; what goes wrong until then rejects with a `ServiceError`.
   *
   * @returns the text as it arrives. Ends only after the vendor has said that the answer is whole; rejects otherwise.
   */
  async open(
    request: ChatRequest,
    { principal, left, requestId }: ChatCaller,
  ): Promise<AsyncIterableIterator<string, undefined>> {
    const model = this.catalog.get(request.model);
    const completion = {
      messages: request.messages,
      temperature: request.temperature ?? DEFAULT_TEMPERATURE,
      maxTokens: maxTokensOf(request, model, principal.tier),
    };
    const stream = this.openStreams.open(principal, left);
    const texts = this.router.stream(model, completion, stream.signal, newCallTrace(requestId));
    const first = texts.next();
    const answer = new AnswerStream(first, texts, stream);
    try {
      await headersDue(first, texts.accepted, HEADERS_WAIT_MS);
    } catch (error) {
      await answer.return();
      // Before any headers a revoked key is one that is refused.
      if (error instanceof ServiceError && error.code === 'key_revoked') {
        throw new ServiceError('unauthenticated', error.message, { cause: error });
      }
      throw error;
    }
    return answer;
  }
}

/** The limit to send to the vendor: what was asked for, if that is allowed, or else the tier's cap. */
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
