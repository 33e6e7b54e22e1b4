import type { ListedApiKey } from '../../accounts/api-keys/api-keys.service.js';
import { stateOf, type KeyState } from './key-state.js';

const STATES: readonly KeyState[] = ['active', 'expired', 'revoked'];
/** In characters. No name of a key is longer. */
const LONGEST_SEARCH = 100;

/** Which keys the list shows, as the address of the page says it. */
export interface KeyFilter {
  /** A part of the name or the beginning of the key. Empty for all keys. */
  readonly search: string;
  /** `undefined` for all states. */
  readonly state: KeyState | undefined;
}

export const ALL_KEYS: KeyFilter = { search: '', state: undefined };

export function keyFilterOf({ search, state }: Readonly<Record<string, unknown>>): KeyFilter {
  return {
    search: typeof search === 'string' ? search.trim().slice(0, LONGEST_SEARCH) : '',
    state: STATES.find((known) => known === state),
  };
}

/** The keys that pass the filter: active keys first, and the latest first among keys of the same kind. */
export function chosenKeys(keys: readonly ListedApiKey[], { search, state }: KeyFilter, now: number): ListedApiKey[] {
  const wanted = search.toLowerCase();
  const isActive = (key: ListedApiKey) => stateOf(key, now) === 'active';
  return keys
    .filter((key) => state === undefined || stateOf(key, now) === state)
    .filter(({ name, prefix }) => name.toLowerCase().includes(wanted) || wanted.startsWith(prefix.toLowerCase()))
    .sort(
      (one, other) =>
        Number(isActive(other)) - Number(isActive(one)) || other.createdAt.getTime() - one.createdAt.getTime(),
    );
}

/** The query of the page with the filter and a page number. */
export function keyQuery({ search, state }: KeyFilter, page: number): string {
  return new URLSearchParams({
    ...(search === '' ? {} : { search }),
    ...(state === undefined ? {} : { state }),
    page: String(page),
  }).toString();
}
