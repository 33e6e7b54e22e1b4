import { KEY_LIMITS, LIMITS, type LimitDefinition } from '../../config/limits/limit-table.js';
import type { RefusedRequest } from '../../observability/refusals/refused-request.js';

const WORDS: Readonly<Record<string, string>> = {
  key_revoked: 'The API key is revoked.',
  key_expired: 'The API key has expired.',
  account_disabled: 'The account is disabled.',
  address_not_allowed: 'The API key may not be used from the address of the caller.',
};

const LIMIT_WORDS = new Map([
  ...definitionsOf(LIMITS).map(({ member, label }) => [member, `Limit: ${label}`] as const),
  ...definitionsOf(KEY_LIMITS).map(({ member, label }) => [member, `Limit of the API key: ${label}`] as const),
]);

/** Why the service refused a request, in words if there are words for it. Otherwise the error code. */
export function RefusalReason({ refused: { reason, errorCode } }: { readonly refused: RefusedRequest }) {
  const words = reason === null ? undefined : (WORDS[reason] ?? LIMIT_WORDS.get(reason));
  return words === undefined ? <code>{reason ?? errorCode}</code> : <>{words}</>;
}

function definitionsOf(table: Readonly<Record<string, LimitDefinition>>): readonly LimitDefinition[] {
  return Object.values(table);
}
