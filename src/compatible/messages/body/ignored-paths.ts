/**
 * Yields the paths of the members that a schema has left out, such as `top_k` or `tools.defer_loading`. Positions in lists are
 * not part of a path.
 *
 * @param sent the value as it was sent.
 * @param used the value as the schema has returned it. What the schema passes on is the same object, and is skipped.
 */
export function* ignoredPaths(sent: unknown, used: unknown, path = ''): Generator<string, void> {
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
