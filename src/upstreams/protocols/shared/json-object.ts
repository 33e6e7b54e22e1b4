import { jsonExcess } from '../../../platform/common/json/json-bounds.js';
import { keepSources } from '../../../platform/common/json/json-source.js';

/**
 * The maximum length of JSON that is parsed without a check of its structure, in UTF-16 units. Parsing this length takes a
 * fraction of a millisecond, whatever it contains. Nearly every event of a provider is shorter.
 */
const UNCHECKED_LENGTH = 2_048;
/**
 * Events of providers have about 10 levels. A long text is one value, so providers send far fewer values than the bound.
 */
const BOUNDS = { values: 20_000, depth: 64 };

const BEGINS_OBJECT = /^[ \t\n\r]*\{/;

/**
 * A JSON object of a provider. Each member may be missing, or have any type.
 *
 * @since 1.0
 */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Parses a JSON object. Returns `undefined` for invalid JSON, for other types of JSON, and for too deep or complex JSON.
 *
 * @since 1.0
 */
export function parseJsonObject(text: string): JsonObject | undefined {
  // The parser would throw, which costs more than to parse an event. Each answer has one such event: its end marker.
  if (!BEGINS_OBJECT.test(text)) return undefined;
  if (text.length > UNCHECKED_LENGTH && jsonExcess(text, BOUNDS) !== undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (!isJsonObject(value)) return undefined;
    keepSources(text, value);
    return value;
  } catch {
    return undefined;
  }
}

/**
 * Whether the value is a string with at least one character.
 *
 * @since 1.0
 */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
