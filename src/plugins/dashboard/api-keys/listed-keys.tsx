import type { ListedApiKey } from '../../../plugin-api/core/accounts.js';
import { LocalTime } from '../format/times.js';
import type { Fact } from '../parts/blocks.js';
import { choiceIn, textIn, type QueryValues } from '../parts/query.js';

/** The badge of each state. */
export const KEY_STATES = {
  active: ['Active', 'good'],
  expired: ['Expired', ''],
  revoked: ['Revoked', 'bad'],
} as const;

type KeyState = keyof typeof KEY_STATES;

export function stateOf(
  { revokedAt, expiresAt }: Pick<ListedApiKey, 'revokedAt' | 'expiresAt'>,
  now: number,
): KeyState {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && expiresAt.getTime() <= now ? 'expired' : 'active';
}

interface KeyStateBadgeProps {
  readonly apiKey: Pick<ListedApiKey, 'revokedAt' | 'expiresAt'>;
  readonly now: number;
}

/** The state of a key in one word. */
export function KeyStateBadge({ apiKey, now }: KeyStateBadgeProps) {
  const [label, tone] = KEY_STATES[stateOf(apiKey, now)];
  return <span class={`badge ${tone}`}>{label}</span>;
}

/** The keys that the list shows. */
export interface KeyFilter {
  /** A part of the name or the beginning of the key. */
  readonly search?: string | undefined;
  readonly state?: KeyState | undefined;
}

export function keyFilterIn({ search, state }: QueryValues): KeyFilter {
  return { search: textIn(search, 100), state: choiceIn(state, KEY_STATES) };
}

/** The keys that pass the filter: active keys first, and the latest first among keys of the same kind. */
export function chosenKeys(
  keys: readonly ListedApiKey[],
  { search = '', state }: KeyFilter,
  now: number,
): ListedApiKey[] {
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

/** The facts about a key for a user who is about to revoke or rotate the key. */
export function keyFacts({ prefix, createdAt, lastUsedAt, expiresAt }: ListedApiKey): readonly Fact[] {
  return [
    ['Key', <code>{prefix}…</code>],
    ['Created', <LocalTime at={createdAt} />],
    ['Last used', <LocalTime at={lastUsedAt} />],
    ['Expires', <LocalTime at={expiresAt} />],
  ];
}
