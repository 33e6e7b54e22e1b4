import {
  Body,
  Controller,
  HttpCode,
  Inject,
  RequestMethod,
  Res,
  Sse,
  type MessageEvent,
  applyDecorators,
} from '@nestjs/common';
import type { Response } from 'express';
import { Observable } from 'rxjs';
import {
  ApiBearerAuth,
  ApiExtraModels,
  ApiHeader,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
  RATE_LIMIT_HEADERS,
} from '../platform/http/open-api/api-decorators.js';
import { CONFIG, type Config } from '../platform/config/config.js';
import { BodyValues } from '../platform/http/body/body-class.decorator.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { LimitedByTier, OpensStream } from '../throttling/limited-by-tier.decorator.js';
import { Caller, type ChatCaller } from './chat-caller.js';
import { ChatService } from './chat.service.js';
import { ApiLastEventId, Durable, DURABLE_HEADERS } from './durable-request.js';
import { ChatRequest } from './request/chat-request.dto.js';
import { tokenDemand } from './request/token-demand.js';
import { sendChunks } from './stream/chunk-events.js';
import { InterChunkLatencies, type InterChunkClock } from './stream/inter-chunk-latencies.js';
import { SseSink } from './stream/sse-sink.js';
import { ApiErrors } from '../platform/http/open-api/api-errors.decorator.js';
import { Chunk, EVENT_STREAM } from './stream/chunk.dto.js';

/** Describes `POST /chat/stream` in the OpenAPI document. */
export const ApiChatStream = (): MethodDecorator =>
  applyDecorators(
    ApiExtraModels(Chunk),
    ApiHeader({
      name: 'Idempotency-Key',
      required: false,
      description:
        'Makes the stream durable. The same key and body again lead to the same stream, also after a broken connection, up to ' +
        '`STREAM_RETENTION_SECONDS` after its end. 1 to 255 visible ASCII characters.',
      schema: { type: 'string', minLength: 1, maxLength: 255 },
    }),
    ApiLastEventId(),
    ApiOperation({
      operationId: 'streamChat',
      summary: 'Streams a chat completion',
      description:
        'Answers with server-sent events. Each `data:` line is a chunk. The answer is complete when a chunk with `done: true` ' +
        'arrives. If a stream fails, its last event is named `error` and gives the reason. If a stream ends without either, the ' +
        'connection broke. With an `Idempotency-Key`, each chunk with text has an `id:` line. Ignore comment lines (`: keep-alive`). The service refuses unknown members in the body.',
    }),
    ApiOkResponse({
      description: 'The stream of chunks.',
      headers: {
        ...DURABLE_HEADERS,
        ...RATE_LIMIT_HEADERS,
      },
      content: {
        'text/event-stream': {
          schema: EVENT_STREAM,
          example:
            'data: {"content":"Hel","done":false}\n\ndata: {"content":"lo","done":false}\n\ndata: {"content":"","done":true}\n\n',
        },
      },
    }),
    ApiErrors(400, 401, 403, 404, 409, 413, 415, 429, 500, 502, 503, 504),
  );

/**
 * The maximum number of values in the JSON body. A message has three values, so a body with a few hundred messages too many
 * still gets the error about the number of messages. The validation of this many values takes less than 50 ms.
 */
const MAX_BODY_VALUES = 4_000;

@ApiTags('Chat')
@ApiBearerAuth()
@LimitedByTier({ body: ChatRequest, tokensOf: tokenDemand })
@Controller('chat')
export class ChatController {
  constructor(
    private readonly chat: ChatService,
    private readonly catalog: ModelCatalog,
    private readonly latencies: InterChunkLatencies,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  // No interceptor on this route: Nest would send status 200 before the answer can begin. See `refuseInterceptors`.
  @Sse('stream', { method: RequestMethod.POST })
  @HttpCode(200)
  @OpensStream()
  @Durable()
  @ApiChatStream()
  @BodyValues(MAX_BODY_VALUES)
  async stream(
    @Body() body: ChatRequest,
    @Caller() caller: ChatCaller,
    @Res() response: Response,
  ): Promise<Observable<MessageEvent>> {
    const { requestId, durable } = response.req.context;
    const clock = this.clock(body);
    if (durable !== undefined) {
      return durable.events((detached) => this.chat.open(body, detached), caller, response, clock);
    }
    const parts = await this.chat.open(body, caller);
    const { stalledReaderMs } = this.config;
    return new Observable((subscriber) =>
      sendChunks(parts, new SseSink(response, stalledReaderMs, subscriber), requestId, clock),
    );
  }

  /** The model of an alias is counted, so that clients cannot make names. */
  private clock({ model }: ChatRequest): InterChunkClock | undefined {
    const known = this.catalog.find(model);
    return known && this.latencies.clock(known.id);
  }
}
