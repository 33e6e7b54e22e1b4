import type { ListedApiKey } from '../../accounts/api-keys/api-keys.service.js';
import type { KeyParty } from './usage-totals.js';

type KeyNameProps = KeyParty & {
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
