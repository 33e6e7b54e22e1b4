import type { z } from 'zod';
import { schemaProblems } from '../../../../plugin-api/core/chat.js';
import { Steps } from '../../../../plugin-api/core/common.js';
import { invalidRequest } from '../../../../plugin-api/core/http.js';
import { MAX_COMPATIBLE_BODY_BYTES } from '../../shared/surface-options.js';
import { withConvertedBlocks } from './converted-blocks.js';
import { CountTokensBody, MessagesBody } from './messages-body.js';
import { withoutServerTools } from './offered-tools.js';
import { countTokensRequest, messagesRequest, type MappedRequest, type MessagesRequest } from './messages-request.js';

type SentBody = Readonly<Record<string, unknown>>;
type Ignore = (member: string) => void;

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
  const result = schema.safeParse(converted, { reportInput: true });
  if (!result.success) throw invalidRequest(schemaProblems(result.error.issues));
  if (steps.isOver) await steps.next();
  for (const path of ignoredPaths(converted, result.data)) ignore(path);
  if (steps.isOver) await steps.next();
  return result.data;
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

/**
 * Yields the paths of the members that a schema has left out, such as `top_k` or `tools.defer_loading`. Positions in lists are
 * not part of a path.
 *
 * @param sent the value as it was sent.
 * @param used the value as the schema has returned it. What the schema passes on is the same object, and is skipped.
 */
function* ignoredPaths(sent: unknown, used: unknown, path = ''): Generator<string, void> {
  if (sent === used || !isObject(sent) || !isObject(used)) return;
  if (Array.isArray(sent)) {
    for (const [index, item] of sent.entries()) yield* ignoredPaths(item, (used as unknown[])[index], path);
    return;
  }
  for (const [name, value] of Object.entries(sent)) {
    const member = path === '' ? name : `${path}.${name}`;
    const inner = Object.hasOwn(used, name) ? (used as Record<string, unknown>)[name] : undefined;
    if (inner !== undefined) yield* ignoredPaths(value, inner, member);
    else if (value !== null) yield member;
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
