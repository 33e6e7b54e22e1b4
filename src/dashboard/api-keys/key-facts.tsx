import type { ListedApiKey } from '../../accounts/api-keys/api-keys.service.js';
import { Moment, OptionalMoment } from '../layout/moment.js';

/** Shows the facts about a key to a user who is about to revoke or rotate the key. */
export function KeyFacts({ apiKey }: { readonly apiKey: ListedApiKey }) {
  const { prefix, createdAt, lastUsedAt, expiresAt } = apiKey;
  return (
    <dl class="facts">
      <dt>Key</dt>
      <dd>
        <code>{prefix}…</code>
      </dd>
      <dt>Created</dt>
      <dd>
        <Moment at={createdAt} /> UTC
      </dd>
      <dt>Last used</dt>
      <dd>
        <OptionalMoment at={lastUsedAt} none="Never" />
        {lastUsedAt === null ? '' : ' UTC'}
      </dd>
      <dt>Expires</dt>
      <dd>
        <OptionalMoment at={expiresAt} none="Never" />
        {expiresAt === null ? '' : ' UTC'}
      </dd>
    </dl>
  );
}
