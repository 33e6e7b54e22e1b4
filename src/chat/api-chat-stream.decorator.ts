import { applyDecorators } from '@nestjs/common';
import { ApiExtraModels, ApiHeader, ApiOkResponse, ApiOperation } from '../platform/http/open-api/api-decorators.js';
import { ApiErrors } from '../platform/http/open-api/api-errors.decorator.js';
import { RATE_LIMIT_HEADERS } from '../platform/http/open-api/api-headers.js';
import { ApiLastEventId, DURABLE_HEADERS } from './durable/api-durable-streams.decorator.js';
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
