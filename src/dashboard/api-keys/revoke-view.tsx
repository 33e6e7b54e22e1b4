import type { ListedApiKey } from '../../accounts/api-keys/api-keys.service.js';
import { MadeFor } from '../forms/made-for.js';
import { KeyFacts } from './key-facts.js';

export function RevokeView({ accountId, apiKey }: { readonly accountId: string; readonly apiKey: ListedApiKey }) {
  return (
    <>
      <h1>Revoke “{apiKey.name}”?</h1>
      <p>
        Programs that use this key lose access at once, and their running streams end within two seconds. This can't be
        undone.
      </p>
      <KeyFacts apiKey={apiKey} />
      <form method="post" action={`/settings/api-keys/${apiKey.id}/revoke`} class="actions">
        <MadeFor accountId={accountId} />
        <button class="danger">Revoke</button>
        <a href="/settings/api-keys">Cancel</a>
      </form>
    </>
  );
}
