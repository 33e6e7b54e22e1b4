import type { ListedApiKey } from '../../accounts/api-keys/api-keys.service.js';
import type { KeyClient } from './usage-totals.js';

type KeyNameProps = KeyClient & {
  /** The API keys of the account, including revoked keys. `undefined` when they cannot be read. */
  readonly keys: readonly ListedApiKey[] | undefined;
};

/** Shows the name of the credential that the requests used. */
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
