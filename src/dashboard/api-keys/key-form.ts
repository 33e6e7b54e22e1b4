import type { ApiKeyChanges } from '../../accounts/api-keys/api-key-updates.js';
import type { ListedApiKey } from '../../accounts/api-keys/api-keys.service.js';
import { ServiceError } from '../../common/service-error.js';
import { MICROS } from '../../config/limits/budget.js';
import type { FormField } from '../forms/page-form.js';

/** The fields of the page that edits a key. An empty field means no limit. */
export interface KeyForm {
  readonly name?: string;
  readonly models?: string;
  readonly requests_per_minute?: string;
  readonly tokens_per_day?: string;
  readonly budget?: string;
  readonly budget_per?: string;
  readonly addresses?: string;
}

/** @throws {ServiceError} `invalid_request` for a number that cannot be read. */
export function changesIn(form: KeyForm): ApiKeyChanges {
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

/**
 * The fields with the present values of the key.
 *
 * @param currency the currency of budgets
 */
export function fieldsOf(key: ListedApiKey, currency: string): readonly FormField[] {
  const { models, requestsPerMinute, tokensPerDay, budgetMicros, budgetPer, addresses } = key;
  const amount = budgetMicros === null ? null : budgetMicros / MICROS;
  return [
    { label: 'Name', name: 'name', type: 'text', value: key.name, maxLength: 100 },
    limit(
      'Models',
      'models',
      models?.join(', '),
      'IDs, or vendor/* for all of a vendor, with commas. Empty: all models.',
    ),
    limit('Requests per minute', 'requests_per_minute', textOf(requestsPerMinute), EMPTY),
    limit('Tokens per day', 'tokens_per_day', textOf(tokensPerDay), EMPTY),
    limit('Budget', 'budget', textOf(amount), `In ${currency}. ${EMPTY}`),
    {
      label: 'Budget period',
      name: 'budget_per',
      type: 'select',
      options: { month: 'A month', day: 'A day' },
      value: budgetPer ?? 'month',
    },
    limit(
      'Addresses',
      'addresses',
      addresses?.join(', '),
      'IP addresses or ranges, such as 10.0.0.0/8, with commas. Empty: all addresses.',
    ),
  ];
}

const EMPTY = 'Empty: no limit of its own. The limits of the account always apply.';

function limit(label: string, name: keyof KeyForm, value: string | undefined, hint: string): FormField {
  return { label, name, type: 'text', isOptional: true, value, hint };
}

function textOf(value: number | null): string | undefined {
  return value === null ? undefined : String(value);
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
