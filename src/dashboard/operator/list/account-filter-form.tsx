import { Choice } from '../../forms/choice.js';
import { ACCOUNTS_PATH } from '../account-path.js';
import type { AccountListFilter } from './account-list-filter.js';

const STATES = { '': 'All states', active: 'Active', disabled: 'Disabled' } as const;

interface AccountFilterFormProps {
  readonly filter: AccountListFilter;
  /** The tiers that have accounts. */
  readonly tiers: readonly string[];
}

/** The form to find accounts. It is sent by GET, so the address of the page has the choice. */
export function AccountFilterForm({ filter: { search, state, tier }, tiers }: AccountFilterFormProps) {
  const known = tier === undefined || tiers.includes(tier) ? tiers : [tier, ...tiers];
  return (
    <search>
      <form method="get" action={ACCOUNTS_PATH} class="filter-form">
        <div>
          <label for="search">Search</label>
          <input
            id="search"
            type="search"
            name="search"
            value={search}
            maxLength={254}
            placeholder="email or account ID"
          />
        </div>
        <Choice label="State" name="state" options={STATES} selected={state ?? ''} />
        <div>
          <label for="tier">Tier</label>
          <select id="tier" name="tier">
            <option value="">All tiers</option>
            {known.map((name) => (
              <option key={name} value={name} selected={name === tier}>
                {name}
              </option>
            ))}
          </select>
        </div>
        <button class="quiet">Apply</button>
      </form>
    </search>
  );
}
