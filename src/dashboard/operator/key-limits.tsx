import type { ListedApiKey } from '../../accounts/api-keys/api-keys.service.js';
import { KEY_LIMITS } from '../../config/limits/limit-table.js';
import { count } from '../format/numbers.js';

/** The limits that an API key has in addition to those of its account, one in a line. The budget has a column of its own. */
export function KeyLimitList({ limits }: { readonly limits: ListedApiKey }) {
  const { models, requestsPerMinute, tokensPerDay, addresses } = limits;
  const lines = [
    requestsPerMinute === null ? undefined : `${count(requestsPerMinute)} ${KEY_LIMITS.keyRequestsPerMinute.label}`,
    tokensPerDay === null ? undefined : `${count(tokensPerDay)} ${KEY_LIMITS.keyTokensPerDay.label}`,
    models === null ? undefined : `Models: ${models.join(', ')}`,
    addresses === null ? undefined : `Addresses: ${addresses.join(', ')}`,
  ].filter((line) => line !== undefined);
  if (lines.length === 0) return <span class="none">None</span>;
  return (
    <>
      {lines.map((line) => (
        <div key={line}>{line}</div>
      ))}
    </>
  );
}
