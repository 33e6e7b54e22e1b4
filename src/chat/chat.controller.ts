import {
  Body,
  Controller,
  HttpCode,
  Inject,
  RequestMethod,
  Res,
  Sse,
  SseSignal,
  type MessageEvent,
} from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '../http/open-api/api-decorators.js';
import type { Response } from 'express';
import { concat, of, type Observable } from 'rxjs';
import { CurrentPrincipal } from '../auth/principal/current-principal.decorator.js';
import type { Principal } from '../auth/principal/principal.js';
import { CONFIG, type Config } from '../config/config.js';
import { BodyValues } from '../http/body/json/body-values.decorator.js';
import { AdmissionLease } from '../throttling/admission-lease.decorator.js';
import type { RequestLease } from '../throttling/request-lease.js';
import { LimitedByTier } from '../throttling/limited-by-tier.decorator.js';
import { OpensStream } from '../throttling/process-load/opens-stream.decorator.js';
import { ChatService } from './chat.service.js';
import { Durable } from './durable/durable-request.js';
import { DurableStreams } from './durable/durable-streams.js';
import { IDEMPOTENCY_KEY_HEADER } from './durable/identity/idempotency-key.js';
import { ChatRequest } from './request/chat-request.dto.js';
import { tokenDemand } from './request/token-demand.js';
import { ApiChatStream } from './stream/api-chat-stream.decorator.js';
import { chunkEvents } from './stream/chunk-events.js';
import { ChunkGaps } from './stream/chunk-gaps.js';
import { isHeadHeld } from './stream/held-head.js';
import { StreamSink } from './stream/stream-sink.js';

/**
 * The maximum number of values in the JSON body. A message has three values. The number allows far more messages than the
 * limit, so that a body with too many messages gets the error message about the number of messages.
 */
const MOST_BODY_VALUES = 20_000;

@ApiTags('Chat')
@ApiBearerAuth()
@LimitedByTier({ body: ChatRequest, tokensOf: tokenDemand })
@Controller('chat')
export class ChatController {
  constructor(
    private readonly chat: ChatService,
    private readonly durable: DurableStreams,
    private readonly gaps: ChunkGaps,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  // No interceptor on this route: Nest would send status 200 before the answer can begin. For global ones, see `HeldHead`.
  @Sse('stream', { method: RequestMethod.POST })
  @HttpCode(200)
  @OpensStream()
  @Durable()
  @ApiChatStream()
  @BodyValues(MOST_BODY_VALUES)
  async stream(
    @Body() body: ChatRequest,
    @CurrentPrincipal() principal: Principal,
    @AdmissionLease() lease: RequestLease | undefined,
    @SseSignal() signal: AbortSignal,
    @Res() response: Response,
  ): Promise<Observable<MessageEvent>> {
    const { context } = response.req;
    const { requestId } = context;
    if (response.req.headers[IDEMPOTENCY_KEY_HEADER] !== undefined) {
      const caller = { principal, signal, requestId, lease, context };
      return this.durable.answer(context.durable, body, caller, response, this.gaps.clock(body.model));
    }
    const texts = await this.chat.open(body, { principal, signal, requestId, lease, context });
    const sink = new StreamSink(response, this.config.stalledReaderMs);
    const events = chunkEvents(texts, sink, requestId, this.gaps.clock(body.model));
    // An event without text, of which nothing is sent, lets the head go now: the first text may be far away.
    return isHeadHeld(response) ? concat(of({ comment: '' }), events) : events;
  }
}
