import { applyDecorators, HttpCode, Post } from '@nestjs/common';
import { Durable, tokenDemand } from '../../../plugin-api/core/chat.js';
import type { Config } from '../../../plugin-api/core/config.js';
import { type BodyParser, BodyValues } from '../../../plugin-api/core/http.js';
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
      // The last four are made from the messages and the tools, which are hashed once, in steps.
      ignoredMembers: ['isStream', 'includesUsage', 'places', 'drafts', 'mapped', 'origins'],
    }),
    LimitedByTier<Sent>({
      body,
      tokensOf: ({ conversation }, tier, limit) => tokenDemand(conversation, tier, limit),
    }),
    BodyValues(MAX_COMPATIBLE_BODY_VALUES),
  );
