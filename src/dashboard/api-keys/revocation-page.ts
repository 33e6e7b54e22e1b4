import type { ListedApiKey } from '../../accounts/api-keys/api-keys.service.js';
import type { Page } from '../page.js';
import { Confirmation } from '../parts/confirmation.js';
import { keyFacts } from './listed-keys.js';

interface RevocationOptions {
  /** Where the form is sent. */
  readonly action: string;
  /** The page that the user came from. */
  readonly cancel: string;
  /** The address of the account that the key belongs to, if it is not the account that is signed in. */
  readonly owner?: string;
}

/** The page that asks the user to confirm the revocation of a key. */
export function revocationPage(accountId: string, apiKey: ListedApiKey, { owner, ...form }: RevocationOptions): Page {
  const programs = owner === undefined ? 'Programs' : `Programs of ${owner}`;
  const content = Confirmation({
    title: `Revoke “${apiKey.name}”?`,
    children: `${programs} that use this key lose access at once, and their running streams end within two seconds. This can't be undone.`,
    facts: keyFacts(apiKey),
    accountId,
    button: 'Revoke',
    tone: 'danger',
    ...form,
  });
  const section = owner === undefined ? 'api-keys' : 'accounts';
  return { title: `Revoke ${apiKey.name}`, section, width: 'narrow', content };
}
