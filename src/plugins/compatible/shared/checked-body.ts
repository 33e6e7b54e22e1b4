import type { z } from 'zod';
import { schemaProblems } from '../../../plugin-api/core/chat.js';
import { invalidRequest } from '../../../plugin-api/core/http.js';

export type SentBody = Readonly<Record<string, unknown>>;
export type Ignore = (member: string) => void;

/**
 * Returns the members of a body that its schema has.
 *
 * @param maxProblems the maximum number of invalid members that the error names.
 * @throws {ServiceError} `invalid_request`.
 */
export function checkedBody<Schema extends z.ZodType>(
  schema: Schema,
  body: SentBody,
  maxProblems = 1,
): z.infer<Schema> {
  const result = schema.safeParse(body, { reportInput: true });
  if (!result.success) throw invalidRequest([...schemaProblems(result.error.issues)].slice(0, maxProblems));
  return result.data;
}

/** Returns the error for an invalid value at this path of the body. */
export function refused(path: string, message: string): Error {
  return invalidRequest([{ field: path, message }]);
}

/** Returns a text that the schema does not check, or `undefined` if it is missing. @throws {ServiceError} `invalid_request`. */
export function textAt(value: unknown, path: string): string | undefined {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return undefined;
  throw refused(path, 'must be a string');
}

/**
 * Yields the paths of the members that a schema has left out, such as `top_k` or `metadata.team`.
 *
 * @param sent the value as it was sent.
 * @param used the value as the schema has returned it. What the schema passes on is the same object, and is skipped.
 * @param inLists whether the items of lists count. Their positions are not part of a path.
 */
export function* ignoredPaths(
  sent: unknown,
  used: unknown,
  { inLists = false, path = '' } = {},
): Generator<string, void> {
  if (sent === used || typeof sent !== 'object' || sent === null || typeof used !== 'object' || used === null) return;
  if (Array.isArray(sent)) {
    if (!inLists) return;
    for (const [index, item] of sent.entries())
      yield* ignoredPaths(item, (used as unknown[])[index], { inLists, path });
    return;
  }
  for (const [name, value] of Object.entries(sent)) {
    const member = path === '' ? name : `${path}.${name}`;
    const inner = Object.hasOwn(used, name) ? (used as Record<string, unknown>)[name] : undefined;
    if (inner !== undefined) yield* ignoredPaths(value, inner, { inLists, path: member });
    else if (value !== null) yield member;
  }
}
