import type { ClaimCondition } from '../../plugin-api/core/config.js';
import type { Claims } from './issuer.js';

/** The most values of one claim that count, such as groups of a person. */
const MAX_VALUES = 1_000;

/**
 * Returns the values of a claim as texts: the elements of a list, or the only value. A name that is no claim can be the path of a
 * member, such as `realm_access.roles`.
 */
export function valuesOf(claims: Claims, name: string): readonly string[] {
  const value = Object.hasOwn(claims, name) ? claims[name] : memberAt(claims, name.split('.'));
  return (Array.isArray(value) ? (value as unknown[]).slice(0, MAX_VALUES) : [value]).flatMap((one) =>
    typeof one === 'string' || typeof one === 'number' || typeof one === 'boolean' ? [String(one)] : [],
  );
}

/** Whether the claim has the value, or contains it in a list. */
export function meets(claims: Claims, { name, value }: ClaimCondition): boolean {
  return valuesOf(claims, name).includes(value);
}

function memberAt(claims: object, path: readonly string[]): unknown {
  let value: unknown = claims;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

/** Far above the 255 characters that the standard allows for `sub`. */
const MAX_LENGTH = 1_024;

/** Whether a claim can be stored as an id of the issuer: of a person, of a session or of a token. */
export function isIssuerId(claim: unknown): claim is string {
  return typeof claim === 'string' && claim !== '' && claim.length <= MAX_LENGTH && !claim.includes('\0');
}
