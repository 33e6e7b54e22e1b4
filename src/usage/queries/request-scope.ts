import { API_KEY_FORMAT } from '../../accounts/credentials/secrets.js';
import type { Condition, TimeList } from '../../platform/database/queries/page-by-time.js';
import { ledgerText } from '../store/ledger-text.js';

/** Which requests of which accounts a list has. A member that is `undefined` does not restrict the list. */
export interface RequestScopeFilter {
  readonly accountId?: string | undefined;
  readonly requestId?: string | undefined;
  readonly model?: string | undefined;
  readonly errorCode?: string | undefined;
  /** The id or the beginning of an API key, or `session` for the pages of the service. */
  readonly key?: string | undefined;
}

/**
 * Returns the conditions of a list, so that the list reads the index that has the fewest rows: of the request id, of the account,
 * or of all.
 */
export function scopeOf(filters: RequestScopeFilter): Pick<TimeList, 'scope' | 'filter'> {
  const { accountId, requestId, model, errorCode, key } = filters;
  const ofAccount = equal('account_id', accountId);
  const ofRequest = equal('request_id', requestId);
  const filter = [...equal('model', model), ...equal('error_code', errorCode), ...ofKey(key)];
  return ofRequest.length === 0
    ? { scope: ofAccount, filter }
    : { scope: ofRequest, filter: [...ofAccount, ...filter] };
}

function ofKey(key: string | undefined): readonly Condition[] {
  if (key === 'session') return equal('credential', key);
  return key?.startsWith(API_KEY_FORMAT.mark) === true
    ? equal('key_prefix', API_KEY_FORMAT.prefixOf(key))
    : equal('key_id', key);
}

/** No condition for `undefined`. */
export function equal(column: string, value: string | undefined): readonly Condition[] {
  return value === undefined ? [] : [(mark) => `${column} = ${mark(ledgerText(value))}`];
}
