import type { ListedApiKey } from '../../accounts/api-keys/api-keys.service.js';
import { MadeFor } from '../forms/made-for.js';
import { KeyFacts } from './key-facts.js';

interface RevokeViewProps {
  /** The account that is signed in. */
  readonly accountId: string;
  readonly apiKey: ListedApiKey;
  /** The address of the account that the key belongs to, if it is not the account that is signed in. */
  readonly owner?: string;
  /** Where the form is sent. */
  readonly path: string;
  /** The page that the user came from. */
  readonly back: string;
}

export function RevokeView({ accountId, apiKey, owner, path, back }: RevokeViewProps) {
  return (
    <>
      <h1>Revoke “{apiKey.name}”?</h1>
      <p>
        {owner === undefined ? 'Programs' : `Programs of ${owner}`} that use this key lose access at once, and their
        running streams end within two seconds. This can't be undone.
      </p>
      <KeyFacts apiKey={apiKey} />
      <form method="post" action={path} class="actions">
        <MadeFor accountId={accountId} />
        <button class="danger">Revoke</button>
        <a href={back}>Cancel</a>
      </form>
    </>
  );
}
