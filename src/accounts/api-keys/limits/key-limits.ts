import type { ApiKey } from '../api-key.entity.js';

/** The limits that an API key can have, in addition to the limits of its account. `null`: no limit. */
export type KeyLimits = Pick<
  ApiKey,
  'models' | 'requestsPerMinute' | 'tokensPerDay' | 'addresses' | 'budgetMicros' | 'budgetPer'
>;

/** Changes of limits. A missing member stays as it is, and `null` removes the limit. */
export type KeyLimitChanges = { readonly [Name in keyof KeyLimits]?: KeyLimits[Name] | undefined };

export const NO_LIMITS: KeyLimits = {
  models: null,
  requestsPerMinute: null,
  tokensPerDay: null,
  addresses: null,
  budgetMicros: null,
  budgetPer: null,
};

/** The names of all limits. */
export const KEY_LIMIT_NAMES = Object.keys(NO_LIMITS) as readonly (keyof KeyLimits)[];

/** Returns only the limits of an object that also has other members. */
export function limitsIn(source: KeyLimits): KeyLimits {
  const { models, requestsPerMinute, tokensPerDay, addresses, budgetMicros, budgetPer } = source;
  return { models, requestsPerMinute, tokensPerDay, addresses, budgetMicros, budgetPer };
}
