import { isBoundedJson } from './json-bounds.js';

/** A JSON object of a vendor: any member may be missing, or be of any type. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object that `text` holds; `undefined` when it is not JSON, JSON of another kind, or too deep or complex. */
export function parseJsonObject(text: string): JsonObject | undefined {
  if (!isBoundedJson(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A text with something in it. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
