import type { ListedApiKey } from '../../accounts/api-keys.service.js';
import type { UsageRow } from '../../usage/usage-reports.js';

type KeyNameProps = Pick<UsageRow, 'credential' | 'keyId' | 'keyPrefix'> & {
  /** The account's own, revoked ones included; `undefined` when they cannot be read. */
  readonly keys: readonly ListedApiKey[] | undefined;
};

/** What the owner calls whatever the requests came with. */
export function KeyName({ credential, keyId, keyPrefix, keys }: KeyNameProps) {
  switch (credential) {
    case 'session':
      return <>Playground (session)</>;
    case 'external':
      return <>Another credential</>;
    case 'api_key': {
      const key = keys?.find(({ id }) => id === keyId);
      return (
        <>
          {key === undefined ? null : `${key.name} `}
          <code>{keyPrefix}…</code>
          {key?.revokedAt == null ? null : <small> revoked</small>}
        </>
      );
    }
  }
}

/** Tells apart what stands in a line of its own. */
export function keyOf({ credential, keyId }: UsageRow): string {
  return `${credential} ${keyId ?? ''}`;
}
