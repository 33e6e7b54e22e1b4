/** Returns the JSON of a value with the members of each object in order, so that equal values have the same text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(sortedEntries(inner))
      : inner,
  );
}

/** Returns the members of an object in order, without those that are `undefined`. */
export function sortedEntries(value: object): [string, unknown][] {
  return (Object.entries(value) as [string, unknown][])
    .filter(([, member]) => member !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1));
}

/** Whether a value is an object with members. An array is none. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
