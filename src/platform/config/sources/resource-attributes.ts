/** The attributes of OTEL_RESOURCE_ATTRIBUTES by name. */
type ResourceAttributes = Readonly<Record<string, string>>;

/**
 * Parses a list `key=value,key=value`. Values can contain percent-encoded characters. `undefined`: the list is invalid.
 *
 * @see https://opentelemetry.io/docs/specs/otel/resource/sdk/#specifying-resource-information-via-an-environment-variable
 */
export function readResourceAttributes(list: string): ResourceAttributes | undefined {
  const attributes: Record<string, string> = {};
  for (const pair of list.split(',')) {
    if (pair.trim() === '') continue;
    const [, key, value] = /^\s*([^\s=]+)\s*=(.*)$/.exec(pair) ?? [];
    if (key === undefined || value === undefined) return undefined;
    try {
      attributes[decodeURIComponent(key)] = decodeURIComponent(value.trim());
    } catch {
      return undefined;
    }
  }
  return attributes;
}
