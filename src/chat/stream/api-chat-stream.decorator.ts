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
        'has arrived. A stream that ends otherwise is not complete: its last event is named `error` and says why, unless the ' +
        'connection broke. Comment lines (`: keep-alive`) carry nothing. Members of the body that are not named here are refused.',
    }),
    ApiOkResponse({
      description: 'The stream of chunks.',
      headers: {
        'X-Request-Id': { schema: { type: 'string' } },
        'X-RateLimit-Limit': { description: 'Requests a minute that the tier allows.', schema: { type: 'integer' } },
        'X-RateLimit-Remaining': { description: 'Those left of the minute.', schema: { type: 'integer' } },
        'X-RateLimit-Reset': { description: 'Seconds until the minute is over.', schema: { type: 'integer' } },
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
