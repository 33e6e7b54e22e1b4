import { applyDecorators, HttpCode, Post } from '@nestjs/common';
import { Durable, tokenDemand, DURABLE_HEADERS } from '../../../plugin-api/core/chat.js';
import type { Config } from '../../../plugin-api/core/config.js';
import {
  type BodyParser,
  BodyValues,
  ApiErrors,
  ApiHeader,
  ApiOkResponse,
  ApiOperation,
  RATE_LIMIT_HEADERS,
} from '../../../plugin-api/core/http.js';
import { LimitedByTier, OpensStream } from '../../../plugin-api/core/throttling.js';
import type { CompatibleRequest } from './compatible-answers.js';

/** The names of the compatible interfaces, as `COMPATIBLE_APIS` lists them. */
type CompatibleApi = Config['compatibleApis'][number];

/** The part of the description that all surfaces have in common. */
export function compatibleSurface(name: CompatibleApi) {
  return {
    name,
    keyHeader: 'x-api-key',
    keysOnly: true,
    isEnabled: ({ compatibleApis }: Config) => compatibleApis.includes(name),
  } as const;
}

/** The maximum number of values in a body: conversations with tools have many small values. They are parsed in linear time. */
export const MAX_COMPATIBLE_BODY_VALUES = 80_000;

/** The maximum size of a body, which is the size that Anthropic accepts. */
export const MAX_COMPATIBLE_BODY_BYTES = 32 * 1024 * 1024;

/**
 * Marks the route that answers the conversations of a surface. A request with an `Idempotency-Key` gets the answer of the first request
 * with the key, streamed or whole as it wants it.
 */
export const AnswersConversation = <Sent extends CompatibleRequest>(body: BodyParser<Sent>): MethodDecorator =>
  applyDecorators(
    Post(),
    HttpCode(200),
    OpensStream(),
    Durable({
      conversationOf: (sent) => (sent as CompatibleRequest).conversation,
      // The first is in the conversation, too. The last four are made from the messages and the tools, which are hashed once, in steps.
      ignoredMembers: ['model', 'isStream', 'includesUsage', 'places', 'drafts', 'mapped', 'origins'],
    }),
    LimitedByTier<Sent>({
      body,
      tokensOf: ({ conversation }, tier, limit) => tokenDemand(conversation, tier, limit),
    }),
    BodyValues(MAX_COMPATIBLE_BODY_VALUES),
  );

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
