import { Choice } from '../forms/choice.js';
import type { KeyFilter } from './key-filter.js';

const STATES = { '': 'All states', active: 'Active', expired: 'Expired', revoked: 'Revoked' } as const;

/** The form to find keys. It is sent by GET, so the address of the page has the choice. */
export function KeyFilterForm({ filter }: { readonly filter: KeyFilter }) {
  return (
    <search>
      <form method="get" action="/settings/api-keys" class="filter-form">
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
        <Choice label="State" name="state" options={STATES} selected={filter.state ?? ''} />
        <button class="quiet">Apply</button>
      </form>
    </search>
  );
}
