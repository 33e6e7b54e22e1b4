/**
 * Yields the items in order, in arrays of at most `size` items. Use it because a statement has a limited number of
 * parameters.
 */
export function* inChunks<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}
