import { randomUUID } from 'node:crypto';
import type { ListedApiKey } from '../../../plugin-api/core/accounts.js';
import type { FormProblems } from '../forms/form-problems.js';
import type { Page } from '../layout/layout.js';
import { actionPage } from '../parts/action-pages.js';
import { API_KEYS_PATH } from '../paths.js';
import { formOf, LIFETIMES, limitFields, nameField, OVERLAPS, type KeyForm } from './key-form.js';
import { keyFacts } from './listed-keys.js';

/** The account of a key, for operators. */
export interface KeyOwner {
  readonly id: string;
  readonly email: string;
  /** The path of the page of the account. */
  readonly path: string;
}

/** The key that a page is about. */
export interface ShownKey {
  /** The account that is signed in. */
  readonly accountId: string;
  readonly key: ListedApiKey;
  /** The account that the key belongs to, if it is not the account that is signed in. */
  readonly owner?: KeyOwner;
}

/**
 * The page that changes the name and the limits of a key.
 *
 * @param currency the currency of budgets
 * @param form the values that the user has sent. By default those of the key.
 */
export function editingPage(shown: ShownKey, currency: string, form?: KeyForm, problems?: FormProblems): Page {
  const { key } = shown;
  const entered = form ?? formOf(key);
  return actionPage({
    ...commonOf(shown, 'Edit'),
    heading: `Edit “${key.name}”`,
    text: 'Every replica applies a change within a second. Running streams go on.',
    fields: [nameField(entered), ...limitFields(entered, currency)],
    button: 'Save',
    problems,
  });
}

export function rotationPage(shown: ShownKey, problems?: FormProblems): Page {
  return actionPage({
    ...commonOf(shown, 'Rotate'),
    heading: `Rotate “${shown.key.name}”`,
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

export function revocationPage(shown: ShownKey): Page {
  const { key, owner } = shown;
  const programs = owner === undefined ? 'Programs' : `Programs of ${owner.email}`;
  return actionPage({
    ...commonOf(shown, 'Revoke'),
    heading: `Revoke “${key.name}”?`,
    text: `${programs} that use this key lose access at once, and their running streams end within two seconds. This can't be undone.`,
    button: 'Revoke',
    tone: 'danger',
  });
}

function commonOf({ accountId, key, owner }: ShownKey, what: 'Edit' | 'Rotate' | 'Revoke') {
  return {
    title: `${what} ${key.name}`,
    section: owner === undefined ? 'api-keys' : 'accounts',
    facts: keyFacts(key),
    action: `${owner === undefined ? API_KEYS_PATH : `${owner.path}/keys`}/${key.id}/${what.toLowerCase()}`,
    accountId,
    cancel: owner?.path ?? API_KEYS_PATH,
  } as const;
}
