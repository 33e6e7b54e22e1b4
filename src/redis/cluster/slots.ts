import slotOf from 'cluster-key-slot';

export const SLOT_COUNT = 16_384;

export { slotOf };

/** Returns a key for probes in one of the slots, or `undefined` without slots. */
export function keyInSlots(slots: Iterable<number>): string | undefined {
  const wanted = new Set(slots);
  if (wanted.size === 0) return undefined;
  for (let number = 0; ; number++) {
    const key = `chat:probe:{${number}}`;
    if (wanted.has(slotOf(key))) return key;
  }
}
