import type { KeyLimitChanges } from '../../../accounts/api-keys/api-key.entity.js';
import type { MadeOptions } from '../../../accounts/operator-keys/operator-tree.js';
import { DAY_MS } from '../../../platform/common/clock.js';
import { MICROS } from '../../../platform/config/limits/budget.js';
import { ServiceError } from '../../../platform/common/service-error.js';
import type { Options } from './command.js';

const MAX_DAYS = 36_500;
/** Removes a limit. */
const NONE = 'none';

/** The options of the commands that set the limits of a key. The value `none` removes a limit. */
export const KEY_OPTIONS = {
  budget: '5',
  'budget-per': 'month|day',
  models: 'acme/*,other/one',
  'requests-per-minute': 'N',
  'tokens-per-day': 'N',
  addresses: '10.0.0.0/8,::1',
  'expires-in-days': 'D',
} as const;

/** The flags of the commands that end an operator or an operator key. */
export const MADE_FLAGS = ['keep-made', 'end-operators'] as const;

/** Reads what happens to what the operator or the operator key has made. */
export function madeIn(options: Options<never, (typeof MADE_FLAGS)[number]>): MadeOptions {
  return { keepMade: options['keep-made'] !== undefined, endOperators: options['end-operators'] !== undefined };
}

type KeyOptions = Options<never, keyof typeof KEY_OPTIONS>;

/** Reads the limits from the options. A missing option changes nothing. @throws {ServiceError} for an invalid number. */
export function keyLimitsIn(options: KeyOptions): KeyLimitChanges {
  return {
    models: listIn(options.models),
    requestsPerMinute: countIn(options, 'requests-per-minute'),
    tokensPerDay: countIn(options, 'tokens-per-day'),
    addresses: listIn(options.addresses),
    ...budgetIn(options),
  };
}

/** Reads the expiry date. `null`: no expiry. `undefined`: the option is missing. @throws {ServiceError} for an invalid number. */
export function expiryIn({ 'expires-in-days': text }: Pick<KeyOptions, 'expires-in-days'>): Date | null | undefined {
  if (text === undefined) return undefined;
  if (text === NONE) return null;
  const days = Number(text);
  if (/^\d+$/.test(text) && days >= 1 && days <= MAX_DAYS) return new Date(Date.now() + days * DAY_MS);
  throw invalid(`--expires-in-days must be a whole number from 1 to ${MAX_DAYS}, or none.`);
}

function budgetIn({ budget, 'budget-per': per }: KeyOptions): Pick<KeyLimitChanges, 'budgetMicros' | 'budgetPer'> {
  if (budget === NONE) return { budgetMicros: null, budgetPer: null };
  if (per !== undefined && per !== 'day' && per !== 'month') throw invalid('--budget-per must be month or day.');
  if (budget === undefined) return { budgetPer: per };
  if (!/^\d{1,10}(?:\.\d{1,6})?$/.test(budget))
    throw invalid('--budget must be an amount, such as 5 or 0.50, or none.');
  return { budgetMicros: Math.round(Number(budget) * MICROS), budgetPer: per };
}

function listIn(text: string | undefined): readonly string[] | null | undefined {
  if (text === undefined) return undefined;
  return text === NONE ? null : text.split(',').map((item) => item.trim());
}

function countIn(options: KeyOptions, name: 'requests-per-minute' | 'tokens-per-day'): number | null | undefined {
  const text = options[name];
  if (text === undefined) return undefined;
  if (text === NONE) return null;
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text);
  throw invalid(`--${name} must be a whole number from 1, or none.`);
}

function invalid(message: string): ServiceError {
  return new ServiceError('invalid_request', message);
}
