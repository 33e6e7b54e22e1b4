import { KEY_MARK, prefixOf } from '../../accounts/api-keys/api-key-format.js';
import type { Condition, TimeList } from '../../database/queries/page-by-time.js';
import { ledgerText } from '../store/ledger-text.js';

/** Which requests of which accounts a list has. A member that is `undefined` does not restrict the list. */
export interface RequestScopeFilter {
  readonly accountId?: string | undefined;
  readonly requestId?: string | undefined;
  readonly model?: string | undefined;
  /** The id or the beginning of an API key, or `session` for the pages of the service. */
  readonly key?: string | undefined;
}

/**
 * Returns the conditions of a list, so that the list reads the index that has the fewest rows: of the request id, of the account,
 * or of all.
 */
export function scopeOf({ accountId, requestId, model, key }: RequestScopeFilter): Pick<TimeList, 'scope' | 'filter'> {
  const ofAccount = equal('account_id', accountId);
  const ofRequest = equal('request_id', requestId);
  const filter = [...equal('model', model), ...ofKey(key)];
  return ofRequest.length === 0
    ? { scope: ofAccount, filter }
    : { scope: ofRequest, filter: [...ofAccount, ...filter] };
}

function ofKey(key: string | undefined): readonly Condition[] {
  if (key === 'session') return equal('credential', key);
  return key?.startsWith(KEY_MARK) === true ? equal('key_prefix', prefixOf(key)) : equal('key_id', key);
}

/** No condition for `undefined`. */
export function equal(column: string, value: string | undefined): readonly Condition[] {
  return value === undefined ? [] : [(mark) => `${column} = ${mark(ledgerText(value))}`];
}
