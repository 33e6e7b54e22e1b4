import type { z } from 'zod';
import { Steps } from '../../../../plugin-api/core/common.js';
import { checkedBody, ignoredPaths, type Ignore, type SentBody } from '../../shared/checked-body.js';
import { MAX_COMPATIBLE_BODY_BYTES } from '../../shared/surface-options.js';
import { withConvertedBlocks } from './converted-blocks.js';
import { CountTokensBody, MessagesBody } from './messages-body.js';
import { withoutServerTools } from './offered-tools.js';
import { countTokensRequest, messagesRequest, type MappedRequest, type MessagesRequest } from './messages-request.js';

/**
 * Converts a body to the form of the schemas, checks it, and names the members that the schema does not have. A body may have 32 MiB,
 * so other requests run between the steps.
 *
 * @throws {ServiceError} `invalid_request`.
 */
async function checked<Schema extends z.ZodType>(
  schema: Schema,
  body: SentBody,
  ignore: Ignore,
): Promise<z.infer<Schema>> {
  const steps = new Steps();
  const converted = withoutServerTools(withConvertedBlocks(body, ignore), ignore);
  if (steps.isOver) await steps.next();
  const used = checkedBody(schema, converted, Infinity);
  if (steps.isOver) await steps.next();
  for (const path of ignoredPaths(converted, used, { inLists: true })) ignore(path);
  if (steps.isOver) await steps.next();
  return used;
}

/** Reads the bodies of `POST messages`. */
export const MESSAGES_PARSER = {
  maxBytes: MAX_COMPATIBLE_BODY_BYTES,
  async parse(body: SentBody, ignore: Ignore): Promise<MessagesRequest> {
    return messagesRequest(await checked(MessagesBody, body, ignore));
  },
};

/** Reads the bodies of `POST messages/count_tokens`. */
export const COUNT_TOKENS_PARSER = {
  maxBytes: MAX_COMPATIBLE_BODY_BYTES,
  async parse(body: SentBody, ignore: Ignore): Promise<MappedRequest> {
    return countTokensRequest(await checked(CountTokensBody, body, ignore));
  },
};
