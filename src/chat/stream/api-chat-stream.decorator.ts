import { applyDecorators } from '@nestjs/common';
import { ApiExtraModels, ApiOkResponse, ApiOperation, schemaPath } from '../../http/open-api/api-decorators.js';
import { ApiErrors } from '../../http/open-api/api-errors.decorator.js';
import { Chunk } from './chunk.dto.js';

/** Describes `POST /chat/stream` in the OpenAPI document. */
export const ApiChatStream = (): MethodDecorator =>
  applyDecorators(
    ApiExtraModels(Chunk),
    ApiOperation({
      summary: 'Streams a chat completion',
      description:
        'Answers with server-sent events. Each `data:` line is a chunk. The answer is complete when a chunk with `done: true` ' +
        'arrives. If a stream fails, its last event is named `error` and gives the reason. If a stream ends without either, the ' +
        'connection broke. Ignore comment lines (`: keep-alive`). The service refuses unknown members in the body.',
    }),
    ApiOkResponse({
      description: 'The stream of chunks.',
      headers: {
        'X-Request-Id': { schema: { type: 'string' } },
        'X-RateLimit-Limit': {
          description: 'The requests per minute that the tier allows.',
          schema: { type: 'integer' },
        },
        'X-RateLimit-Remaining': { description: 'The remaining requests in this minute.', schema: { type: 'integer' } },
        'X-RateLimit-Reset': { description: 'Seconds until the minute ends.', schema: { type: 'integer' } },
      },
      content: {
        'text/event-stream': {
          schema: { type: 'array', format: 'event-stream', items: { $ref: schemaPath(Chunk.name) } },
          example:
            'data: {"content":"Hel","done":false}\n\ndata: {"content":"lo","done":false}\n\ndata: {"content":"","done":true}\n\n',
        },
      },
    }),
    ApiErrors(400, 401, 403, 404, 413, 415, 429, 500, 502, 503, 504),
  );
