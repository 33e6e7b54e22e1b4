import type { ListedApiKey } from '../../accounts/api-keys/api-keys.service.js';
import type { RefusedRequest } from '../../observability/refusals/refused-request.js';
import { positionQuery, type ListPosition } from '../parts/list-position.js';
import { OlderLinks } from '../parts/older-links.js';
import { pathWith } from '../parts/query.js';
import { RefusedTable } from './refused-table.js';

export const REFUSED_PATH = '/usage/refused';

interface RefusedViewProps {
  readonly refused: readonly RefusedRequest[];
  /** The position after which the next page begins. `undefined` on the last page. */
  readonly next: ListPosition | undefined;
  readonly keys: readonly ListedApiKey[];
  readonly isFirstPage: boolean;
}

/** The page with the refused requests of an account. */
export function RefusedView({ refused, next, keys, isFirstPage }: RefusedViewProps) {
  return (
    <div class="usage">
      <h1>Refused requests</h1>
      <p>
        <a href="/usage">← Usage</a>
      </p>
      {refused.length === 0 ? (
        <p class="empty">No request was refused in the last 7 days.</p>
      ) : (
        <RefusedTable refused={refused} keys={keys} />
      )}
      <OlderLinks
        latest={isFirstPage ? undefined : REFUSED_PATH}
        older={next && pathWith(REFUSED_PATH, positionQuery(next))}
      />
    </div>
  );
}
