/** Yields the items in order, in arrays of at most `size` items: for statements and commands with a limited size. */
export function* inChunks<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}
