import type { AccountFilter } from '../../../accounts/accounts/account-directory.js';

const STATES = ['active', 'disabled'] as const;
/** In characters. No address of an account is longer. */
const LONGEST_SEARCH = 254;
const LONGEST_TIER = 100;
const CONTROL_CHARACTERS = /\p{Cc}/gu;

/** Which accounts the list shows, as the address of the page says it. */
export type AccountListFilter = Required<AccountFilter> & { readonly search: string };

type Query = Readonly<Record<string, unknown>>;

export function accountFilterOf({ search, state, tier }: Query): AccountListFilter {
  const text = typeof search === 'string' ? search : '';
  return {
    search: text.replaceAll(CONTROL_CHARACTERS, '').trim().slice(0, LONGEST_SEARCH),
    state: STATES.find((known) => known === state),
    tier: tierIn(tier),
  };
}

/** The query of the page with the filter and a page number. */
export function accountQuery({ search, state, tier }: AccountListFilter, page: number): string {
  return new URLSearchParams({
    ...(search === '' ? {} : { search }),
    ...(state === undefined ? {} : { state }),
    ...(tier === undefined ? {} : { tier }),
    page: String(page),
  }).toString();
}

/** An empty field of a form is no filter. */
function tierIn(text: unknown): string | undefined {
  if (typeof text !== 'string' || text === '' || text.length > LONGEST_TIER) return undefined;
  return text.replaceAll(CONTROL_CHARACTERS, '');
}
