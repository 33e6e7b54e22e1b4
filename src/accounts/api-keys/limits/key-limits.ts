import type { ApiKey } from '../api-key.entity.js';

/** The limits that an API key can have, in addition to the limits of its account. `null`: no limit. */
export type KeyLimits = Pick<
  ApiKey,
  'models' | 'requestsPerMinute' | 'tokensPerDay' | 'addresses' | 'budgetMicros' | 'budgetPer'
>;

/** The column of each limit. */
export const KEY_LIMIT_COLUMNS = {
  models: { name: 'models', type: 'text' },
  requestsPerMinute: { name: 'requests_per_minute', type: 'integer' },
  tokensPerDay: { name: 'tokens_per_day', type: 'integer' },
  addresses: { name: 'addresses', type: 'text' },
  budgetMicros: { name: 'budget_micros', type: 'double precision' },
  budgetPer: { name: 'budget_per', type: 'text' },
} as const satisfies Record<keyof KeyLimits, { readonly name: string; readonly type: string }>;

/** Changes of limits. A missing member stays as it is, and `null` removes the limit. */
export type KeyLimitChanges = { readonly [Name in keyof KeyLimits]?: KeyLimits[Name] | undefined };

/** The names of all limits. */
export const KEY_LIMIT_NAMES = Object.keys(KEY_LIMIT_COLUMNS) as readonly (keyof KeyLimits)[];

/** Returns only the limits of an object that also has other members. */
export function limitsIn(source: KeyLimits): KeyLimits {
  return Object.fromEntries(KEY_LIMIT_NAMES.map((name) => [name, source[name]])) as unknown as KeyLimits;
}
