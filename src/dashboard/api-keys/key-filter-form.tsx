import type { KeyFilter } from './key-filter.js';

const STATES = { '': 'All states', active: 'Active', expired: 'Expired', revoked: 'Revoked' } as const;

/** The form to find keys. It is sent by GET, so the address of the page has the choice. */
export function KeyFilterForm({ filter }: { readonly filter: KeyFilter }) {
  return (
    <form method="get" action="/settings/api-keys" class="filter-form" role="search">
      <div>
        <label for="search">Search</label>
        <input
          id="search"
          type="search"
          name="search"
          value={filter.search}
          maxLength={100}
          placeholder="name or key"
        />
      </div>
      <div>
        <label for="state">State</label>
        <select id="state" name="state">
          {Object.entries(STATES).map(([value, label]) => (
            <option key={value} value={value} selected={value === (filter.state ?? '')}>
              {label}
            </option>
          ))}
        </select>
      </div>
      <button class="quiet">Apply</button>
    </form>
  );
}
