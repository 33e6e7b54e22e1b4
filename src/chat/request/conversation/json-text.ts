import { jsonSource } from '../../../platform/common/json/json-source.js';

/** Bounds of a JSON Schema. */
const MAX_DEPTH = 64;
const MAX_SCHEMA_LENGTH = 128 * 1024;

/**
 * Returns what is wrong with a JSON Schema, as the end of a sentence. The service passes schemas on and checks only their size: at
 * most 64 levels, and 131,072 characters of JSON. Returns `undefined` for a valid schema.
 */
export function schemaProblem(schema: unknown): string | undefined {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return 'must be an object';
  if (isDeeper(schema, MAX_DEPTH)) return `must have at most ${MAX_DEPTH} levels`;
  if (jsonSource(schema).length > MAX_SCHEMA_LENGTH) return `must have at most ${MAX_SCHEMA_LENGTH} characters`;
  return undefined;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}
