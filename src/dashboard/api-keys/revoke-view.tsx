import type { ListedApiKey } from '../../accounts/api-keys/api-keys.service.js';
import { KeyFacts } from './key-facts.js';

export function RevokeView({ apiKey }: { readonly apiKey: ListedApiKey }) {
  return (
    <>
      <h1>Revoke “{apiKey.name}”?</h1>
      <p>
        Whatever uses this key is refused from then on, and answers that it is reading end within two seconds. A key
        that is revoked stays so.
      </p>
      <KeyFacts apiKey={apiKey} />
      <form method="post" action={`/settings/api-keys/${apiKey.id}/revoke`} class="actions">
        <button class="danger">Revoke</button>
        <a href="/settings/api-keys">Keep it</a>
      </form>
    </>
  );
}
