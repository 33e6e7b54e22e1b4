import type { KeyRestrictions } from '../accounts/api-keys/limits/key-restrictions.js';
import { KEY_LIMITS } from '../config/limits/limit-table.js';
import type { Limit } from './limit-store.js';

/** Returns the limits of an API key, for a limit store. The longest window comes first, as for the limits of a tier. */
export function limitsOfKey({ countedAs, requestsPerMinute, tokensPerDay }: KeyRestrictions): readonly Limit[] {
  return [
    ...limitOf('keyTokensPerDay', tokensPerDay, countedAs),
    ...limitOf('keyRequestsPerMinute', requestsPerMinute, countedAs),
  ];
}

function limitOf(name: keyof typeof KEY_LIMITS, max: number | undefined, key: string): readonly Limit[] {
  const { unit, window } = KEY_LIMITS[name];
  return max === undefined ? [] : [{ name, unit, window, max, key }];
}
