import { isBoundedJson } from './json-bounds.js';

/** A JSON object of a provider. Each member may be missing, or have any type. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Parses a JSON object. Returns `undefined` for invalid JSON, for other types of JSON, and for too deep or complex JSON. */
export function parseJsonObject(text: string): JsonObject | undefined {
  if (!isBoundedJson(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the value is a string with at least one character. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
