import { applyDecorators } from '@nestjs/common';
import { DURABLE_HEADERS } from '../../../plugin-api/core/chat.js';
import {
  ApiErrors,
  ApiHeader,
  ApiOkResponse,
  ApiOperation,
  RATE_LIMIT_HEADERS,
} from '../../../plugin-api/core/http.js';

/** The header with the members of the body that have no effect. */
export const IGNORED_PARAMETERS = {
  'X-Ignored-Parameters': {
    description: 'The names of the members of the body that have no effect. Missing if there are none.',
    schema: { type: 'string' as const },
  },
};

/** The header that every client of Anthropic sends. */
export const ANTHROPIC_VERSION = {
  name: 'anthropic-version',
  required: false,
  schema: { type: 'string' as const, example: '2023-06-01' },
};

interface AnswerDescription {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  /** What a whole answer and the events of a stream are. */
  readonly answer: string;
}

/**
 * Describes an operation that answers a conversation in the OpenAPI document. `describe-compatible-apis.ts` adds the schemas,
 * which are loaded with the document only.
 */
export const ApiAnswer = ({ operationId, summary, description, answer }: AnswerDescription): MethodDecorator =>
  applyDecorators(
    ApiOperation({ operationId, summary, description }),
    ApiHeader({
      name: 'Idempotency-Key',
      required: false,
      description:
        'The same key and body again get the same answer with the same ids, up to `STREAM_RETENTION_SECONDS` after its end. ' +
        '1 to 255 visible ASCII characters.',
      schema: { type: 'string', minLength: 1, maxLength: 255 },
    }),
    ApiOkResponse({
      description: answer,
      headers: {
        ...IGNORED_PARAMETERS,
        'Idempotency-Replayed': DURABLE_HEADERS['Idempotency-Replayed'],
        ...RATE_LIMIT_HEADERS,
      },
    }),
    ApiErrors(400, 401, 403, 404, 409, 413, 415, 429, 500, 502, 503, 504),
  );
