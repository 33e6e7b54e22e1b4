import { randomUUID } from 'node:crypto';
import type { ListedApiKey } from '../../accounts/api-keys/api-keys.service.js';
import type { FormProblems } from '../forms/form-problems.js';
import type { Page } from '../page.js';
import { confirmationPage } from '../parts/confirmation.js';
import { API_KEYS_PATH } from '../paths.js';
import { fieldsOf } from './key-form.js';
import { LIFETIMES, OVERLAPS } from './lifetimes.js';
import { keyFacts } from './listed-keys.js';

/** The page that changes the name and the limits of a key. */
export function editingPage(accountId: string, key: ListedApiKey, currency: string, problems?: FormProblems): Page {
  return confirmationPage({
    ...commonOf(accountId, key, 'Edit'),
    heading: `Edit “${key.name}”`,
    text: 'Every replica applies a change within a second. Running streams go on.',
    fields: fieldsOf(key, currency),
    button: 'Save',
    problems,
  });
}

export function rotationPage(accountId: string, key: ListedApiKey, problems?: FormProblems): Page {
  return confirmationPage({
    ...commonOf(accountId, key, 'Rotate'),
    heading: `Rotate “${key.name}”`,
    text: 'You get a new key with the same name. The old key keeps working while you deploy the new one.',
    fields: [
      { label: 'Old key expires', name: 'old_key_ends_in_hours', type: 'select', options: OVERLAPS, value: '24' },
      { label: 'New key expires', name: 'expires_in_days', type: 'select', options: LIFETIMES, value: 'never' },
      // If a browser sends the form twice, the service still creates one key.
      { type: 'hidden', name: 'id', value: randomUUID() },
    ],
    button: 'Rotate',
    script: 'api-keys.js',
    once: true,
    problems,
  });
}

interface KeyOwner {
  readonly email: string;
  /** The path of the page of the account. */
  readonly path: string;
}

/** @param owner the account that the key belongs to, if it is not the account that is signed in. */
export function revocationPage(accountId: string, key: ListedApiKey, owner?: KeyOwner): Page {
  const programs = owner === undefined ? 'Programs' : `Programs of ${owner.email}`;
  return confirmationPage({
    ...commonOf(accountId, key, 'Revoke'),
    heading: `Revoke “${key.name}”?`,
    text: `${programs} that use this key lose access at once, and their running streams end within two seconds. This can't be undone.`,
    button: 'Revoke',
    tone: 'danger',
    ...(owner && { section: 'accounts', action: `${owner.path}/keys/${key.id}/revoke`, cancel: owner.path }),
  });
}

function commonOf(accountId: string, key: ListedApiKey, what: 'Edit' | 'Rotate' | 'Revoke') {
  return {
    title: `${what} ${key.name}`,
    section: 'api-keys',
    facts: keyFacts(key),
    action: `${API_KEYS_PATH}/${key.id}/${what.toLowerCase()}`,
    accountId,
    cancel: API_KEYS_PATH,
  } as const;
}
