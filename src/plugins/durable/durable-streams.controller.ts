import { applyDecorators, Controller, Delete, HttpCode, Param, Res, Sse, type MessageEvent } from '@nestjs/common';
import type { Response } from 'express';
import { EMPTY, type Observable } from 'rxjs';
import { CurrentPrincipal, type Principal } from '../../plugin-api/core/auth.js';
import { ApiLastEventId, DURABLE_HEADERS, EVENT_STREAM } from '../../plugin-api/core/chat.js';
import {
  ApiErrors,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  RATE_LIMIT_HEADERS,
  ApiBearerAuth,
  ApiTags,
} from '../../plugin-api/core/http.js';
import { ShowsLimits, StreamSlots } from '../../plugin-api/core/throttling.js';
import { ClaimedRequest } from './durable-request.js';
import { DurableStreams } from './durable-streams.js';

const STREAM_ID = () =>
  ApiParam({ name: 'id', description: 'The `X-Stream-Id` of a durable stream.', schema: { type: 'string' } });

/** Describes `GET /chat/streams/{id}` in the OpenAPI document. */
const ApiReadStream = (): MethodDecorator =>
  applyDecorators(
    STREAM_ID(),
    ApiLastEventId(),
    ApiOperation({
      operationId: 'readStream',
      summary: 'Reads a durable stream',
      description:
        'Sends the whole stream from its beginning, or from after `Last-Event-ID`, and then follows the stream. Works while the ' +
        'stream is generated and for `STREAM_RETENTION_SECONDS` after its end. At most 4 clients can read a stream at the same time, and an ' +
        'account can read 64 MiB again per minute.',
    }),
    ApiOkResponse({
      description: 'The stream of chunks. Each chunk with text has an `id:` line.',
      headers: { ...DURABLE_HEADERS, ...RATE_LIMIT_HEADERS },
      content: {
        'text/event-stream': {
          schema: EVENT_STREAM,
          example:
            'id: q83vEjRW-3\ndata: {"content":"Hel","done":false}\n\nid: q83vEjRW-5\ndata: {"content":"lo","done":false}\n\ndata: {"content":"","done":true}\n\n',
        },
      },
    }),
    ApiErrors('invalid_request', 401, 403, 'not_found', 429, 'shutting_down', 'unavailable'),
  );

/** Describes `DELETE /chat/streams/{id}` in the OpenAPI document. */
const ApiCancelStream = (): MethodDecorator =>
  applyDecorators(
    STREAM_ID(),
    ApiOperation({
      operationId: 'cancelStream',
      summary: 'Cancels a durable stream',
      description:
        'Stops the generation. Readers get `event: error` with the code `cancelled`. Has no effect on a stream that has ended.',
    }),
    ApiNoContentResponse({ description: 'The generation has stopped.', headers: RATE_LIMIT_HEADERS }),
    ApiErrors(401, 403, 'not_found', 429, 'unavailable'),
  );

/** Reads and cancels durable streams by their id. */
@ApiTags('Chat')
@ApiBearerAuth()
@ShowsLimits()
@Controller('chat/streams')
export class DurableStreamsController {
  constructor(
    private readonly streams: DurableStreams,
    private readonly slots: StreamSlots,
  ) {}

  @Sse(':id')
  @ApiReadStream()
  async read(
    @Param('id') id: string,
    @CurrentPrincipal() principal: Principal,
    @Res() response: Response,
  ): Promise<Observable<MessageEvent>> {
    const stream = await this.streams.find(id, principal);
    // The answer to HEAD has no body that could last.
    if (response.req.method === 'HEAD') return EMPTY;
    const reading = await this.streams.enter(stream, response, this.slots);
    const repetition = { kind: 'repeated', stream, reading } as const;
    response.req.context.durable = new ClaimedRequest(repetition, this.streams);
    return this.streams.read(repetition, principal, response);
  }

  @Delete(':id')
  @HttpCode(204)
  @ApiCancelStream()
  async cancel(@Param('id') id: string, @CurrentPrincipal() principal: Principal): Promise<void> {
    const stream = await this.streams.find(id, principal);
    await stream.cancel();
  }
}
