import { randomUUID } from 'node:crypto';
import type { ListedApiKey, NewApiKey } from '../../../plugin-api/core/accounts.js';
import { DAY_MS, HOUR_MS, ServiceError } from '../../../plugin-api/core/common.js';
import { MICROS } from '../../../plugin-api/core/config.js';
import type { FormProblems } from '../forms/form-problems.js';
import type { FormField } from '../forms/page-form.js';
import type { Page } from '../layout/layout.js';
import { actionPage } from '../parts/action-pages.js';
import { API_KEYS_PATH } from '../paths.js';
import { keyFacts } from './key-table.js';

/** The fields of a key in forms. An empty field means no limit. */
export interface KeyForm {
  readonly name?: string;
  readonly models?: string;
  readonly requests_per_minute?: string;
  readonly tokens_per_day?: string;
  readonly budget?: string;
  readonly budget_per?: string;
  readonly addresses?: string;
}

export interface NewKeyForm extends KeyForm {
  readonly expires_in_days?: string;
  readonly id?: string;
}

/** @throws {ServiceError} `invalid_request` for a number that cannot be read. */
export function changesIn(form: KeyForm): Pick<NewApiKey, 'name' | 'limits'> {
  const budget = numberIn(form, 'budget');
  const per = form.budget_per === 'day' ? 'day' : 'month';
  return {
    name: form.name ?? '',
    limits: {
      models: listIn(form.models),
      requestsPerMinute: numberIn(form, 'requests_per_minute'),
      tokensPerDay: numberIn(form, 'tokens_per_day'),
      addresses: listIn(form.addresses),
      budgetMicros: budget === null ? null : Math.round(budget * MICROS),
      budgetPer: budget === null ? null : per,
    },
  };
}

/** The present values of a key, as its form has them. */
function formOf({ name, models, addresses, budgetMicros, budgetPer, ...key }: ListedApiKey): KeyForm {
  return {
    name,
    models: models?.join(', ') ?? '',
    requests_per_minute: textOf(key.requestsPerMinute),
    tokens_per_day: textOf(key.tokensPerDay),
    budget: textOf(budgetMicros === null ? null : budgetMicros / MICROS),
    budget_per: budgetPer ?? 'month',
    addresses: addresses?.join(', ') ?? '',
  };
}

export function nameField({ name }: KeyForm): FormField {
  return { label: 'Name', name: 'name', type: 'text', value: name, maxLength: 100, autoComplete: 'off' };
}

/**
 * The fields of the limits of a key.
 *
 * @param currency the currency of budgets
 */
export function limitFields(form: KeyForm, currency: string): readonly FormField[] {
  const field = (label: string, name: Exclude<keyof KeyForm, 'name'>, hint: string) =>
    ({ label, name, type: 'text', value: form[name], isOptional: true, autoComplete: 'off', hint }) as const;
  return [
    field('Models', 'models', 'IDs, or vendor/* for all of a vendor, with commas. Empty: all models.'),
    field('Requests per minute', 'requests_per_minute', EMPTY),
    field('Tokens per day', 'tokens_per_day', EMPTY),
    field('Budget', 'budget', `In ${currency}. ${EMPTY}`),
    {
      label: 'Budget period',
      name: 'budget_per',
      type: 'select',
      options: { month: 'A month', day: 'A day' },
      value: form.budget_per ?? 'month',
    },
    field('Addresses', 'addresses', 'IP addresses or ranges, such as 10.0.0.0/8, with commas. Empty: all addresses.'),
  ];
}

const EMPTY = 'Empty: no limit of its own. The limits of the account always apply.';

function textOf(value: number | null): string {
  return value === null ? '' : String(value);
}

function listIn(text = ''): readonly string[] | null {
  const items = text.split(/[,\s]+/).filter((item) => item !== '');
  return items.length === 0 ? null : items;
}

function numberIn(form: KeyForm, name: 'requests_per_minute' | 'tokens_per_day' | 'budget'): number | null {
  const text = (form[name] ?? '').trim();
  if (text === '') return null;
  if (/^\d{1,10}(?:\.\d{1,6})?$/.test(text)) return Number(text);
  throw new ServiceError('invalid_request', 'The limits of the key are invalid.', {
    details: [{ field: name, message: 'must be a number, or empty' }],
  });
}

/** The lifetimes of a new key that forms offer: the number of days, and its label. */
export const LIFETIMES = { never: 'Never', '7': '7 days', '30': '30 days', '90': '90 days', '365': '1 year' } as const;

/** How long the old key keeps working after a rotation, as forms offer it: the number of hours, and its label. */
const OVERLAPS = {
  '0': 'Now',
  '1': '1 hour from now',
  '24': '1 day from now',
  '168': '7 days from now',
} as const;

/**
 * The expiry date for a lifetime in days. `undefined` means that the key does not expire.
 *
 * @throws {ServiceError} `invalid_request` for a value that no form offers.
 */
export function expiryOf(days: string | undefined, now: number): Date | undefined {
  if (days === undefined || days === '' || days === 'never') return undefined;
  if (!Object.hasOwn(LIFETIMES, days)) throw notOffered('expires_in_days');
  return new Date(now + Number(days) * DAY_MS);
}

/**
 * The milliseconds that the old key keeps working after a rotation. The default is one day.
 *
 * @throws {ServiceError} `invalid_request` for a value that no form offers.
 */
export function overlapOf(hours: string | undefined): number {
  if (hours === undefined) return DAY_MS;
  if (!Object.hasOwn(OVERLAPS, hours)) throw notOffered('old_key_ends_in_hours');
  return Number(hours) * HOUR_MS;
}

function notOffered(field: string): ServiceError {
  return new ServiceError('invalid_request', 'The form is invalid.', {
    details: [{ field, message: 'Choose one of the listed options.' }],
  });
}

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
