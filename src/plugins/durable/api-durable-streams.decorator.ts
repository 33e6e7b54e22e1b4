import { applyDecorators } from '@nestjs/common';
import { ApiLastEventId, DURABLE_HEADERS, EVENT_STREAM } from '../../plugin-api/core/chat.js';
import {
  ApiErrors,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  RATE_LIMIT_HEADERS,
} from '../../plugin-api/core/http.js';

const STREAM_ID = () =>
  ApiParam({ name: 'id', description: 'The `X-Stream-Id` of a durable stream.', schema: { type: 'string' } });

/** Describes `GET /chat/streams/{id}` in the OpenAPI document. */
export const ApiReadStream = (): MethodDecorator =>
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
export const ApiCancelStream = (): MethodDecorator =>
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
