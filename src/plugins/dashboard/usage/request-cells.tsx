import type { ListedApiKey } from '../../../plugin-api/core/accounts.js';
import { KEY_LIMITS, type LimitDefinition, LIMITS } from '../../../plugin-api/core/config.js';
import type { RefusedRequest } from '../requests/refused-requests.js';
import { FAILED_OUTCOMES, type ListedStream, type StreamOutcome } from '../../../plugin-api/core/usage.js';
import type { KeyClient } from './usage-totals.js';

/** The id of a model, if it is known. */
export function ModelName({ id }: { readonly id: string | null }) {
  return id === null ? <span class="none">–</span> : <code>{id}</code>;
}

const OTHER_CREDENTIALS = { session: 'Playground (session)', external: 'Another credential' } as const;

/** The name of a credential without markup, for the legend of a chart. */
export function keyText({ credential, keyId, keyPrefix }: KeyClient, keys: readonly ListedApiKey[] = []): string {
  if (credential !== 'api_key') return OTHER_CREDENTIALS[credential];
  const name = keys.find(({ id }) => id === keyId)?.name;
  return name === undefined ? `${keyPrefix ?? ''}…` : `${name} (${keyPrefix ?? ''}…)`;
}

type KeyNameProps = KeyClient & {
  /** The API keys of the account, including revoked keys. `undefined` when they cannot be read. */
  readonly keys: readonly ListedApiKey[] | undefined;
};

/** Shows the name of the credential that the requests used. */
export function KeyName({ credential, keyId, keyPrefix, keys }: KeyNameProps) {
  if (credential !== 'api_key') return <>{OTHER_CREDENTIALS[credential]}</>;
  const key = keys?.find(({ id }) => id === keyId);
  return (
    <>
      {key === undefined ? null : `${key.name} `}
      <code>{keyPrefix}…</code>
      {key?.revokedAt == null ? null : <small> revoked</small>}
    </>
  );
}

export const OUTCOME_WORDS: Readonly<Record<StreamOutcome, string>> = {
  completed: 'Complete',
  client_gone: 'Stopped',
  upstream_failed: 'Model failed',
  rejected: 'Rejected',
  timed_out: 'Timed out',
  revoked: 'Key revoked',
  drained: 'Shut down',
  failed: 'Failed',
  interrupted: 'Interrupted',
};

/** How a stream ended. An answer that was cut off at the token limit says so. */
export function OutcomeBadge({ stream }: { readonly stream: ListedStream }) {
  const { outcome, finish_reason: reason } = stream;
  if (outcome === 'completed' && reason === 'length') return <span class="badge">Cut off at the token limit</span>;
  const tone = outcome === 'completed' ? 'good' : FAILED_OUTCOMES.includes(outcome) ? 'bad' : '';
  return <span class={`badge ${tone}`}>{OUTCOME_WORDS[outcome]}</span>;
}

const REASON_WORDS: ReadonlyMap<string, string> = new Map([
  ['key_revoked', 'The API key is revoked.'],
  ['key_expired', 'The API key has expired.'],
  ['account_disabled', 'The account is disabled.'],
  ['address_not_allowed', 'The API key may not be used from the address of the caller.'],
  ...wordsOf(LIMITS, 'Limit'),
  ...wordsOf(KEY_LIMITS, 'Limit of the API key'),
]);

/** Why the service refused a request, in words if there are words for it. Otherwise the error code. */
export function RefusalReason({ refused: { reason, errorCode } }: { readonly refused: RefusedRequest }) {
  const words = reason === null ? undefined : REASON_WORDS.get(reason);
  return words === undefined ? <code>{reason ?? errorCode}</code> : <>{words}</>;
}

function wordsOf(limits: Readonly<Record<string, LimitDefinition>>, what: string): [reason: string, words: string][] {
  return Object.values(limits).map(({ member, label }) => [member, `${what}: ${label}`]);
}
