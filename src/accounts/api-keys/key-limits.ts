import { MAX_BUDGET, MICROS, type Budget } from '../../platform/config/limits/budget.js';
import { KEY_LIMIT_NAMES, type ApiKey, type KeyLimitChanges } from './api-key.entity.js';
import { isWithin, parseAddressRange, type AddressRange } from '../../platform/common/network/ip-address.js';
import { ServiceError, type ErrorDetail } from '../../platform/common/service-error.js';

const ALL_OF_VENDOR = '/*';

/** The limits of a verified key, in the form in which requests are checked. */
export class KeyRestrictions {
  /** The id of the first key in a chain of rotated keys. What the keys of the chain use counts together. */
  readonly countedAs: string;
  readonly requestsPerMinute: number | undefined;
  readonly tokensPerDay: number | undefined;
  readonly budget: Budget | undefined;
  private readonly models: ReadonlySet<string> | undefined;
  private readonly ranges: readonly AddressRange[] | undefined;

  private constructor(key: ApiKey) {
    const { id, originId, models, requestsPerMinute, tokensPerDay, addresses, budgetMicros, budgetPer } = key;
    this.countedAs = originId ?? id;
    this.requestsPerMinute = requestsPerMinute ?? undefined;
    this.tokensPerDay = tokensPerDay ?? undefined;
    this.budget = budgetMicros === null ? undefined : { micros: budgetMicros, per: budgetPer ?? 'month' };
    this.models = models === null ? undefined : new Set(models);
    this.ranges = addresses?.map(parseAddressRange).filter((range) => range !== undefined);
  }

  /** Returns `undefined` for a key without limits. */
  static of(key: ApiKey): KeyRestrictions | undefined {
    return KEY_LIMIT_NAMES.every((name) => key[name] === null) ? undefined : new KeyRestrictions(key);
  }

  /** Whether the key may be used from this address, see {@link isWithin}. */
  allowsAddress(address: string): boolean {
    return this.ranges === undefined || isWithin(this.ranges, address);
  }

  /** Whether the key may use the model. For other models, the service answers as if they did not exist. */
  allowsModel(id: string): boolean {
    const { models } = this;
    if (models === undefined) return true;
    return models.has(id) || models.has(id.slice(0, id.indexOf('/')) + ALL_OF_VENDOR);
  }
}

const MAX_MODELS = 100;
const MAX_ADDRESSES = 100;
/** `<vendor>/*`, or a model id. */
const MODEL = /^[^/\s]{1,100}\/\S{1,400}$/;
/** The largest value of an integer column of PostgreSQL. */
const MAX_COUNT = 2_147_483_647;

/**
 * Checks the limits of a key.
 *
 * @throws {ServiceError} `invalid_request` that names every problem.
 */
export function checkKeyLimits({
  models,
  requestsPerMinute,
  tokensPerDay,
  addresses,
  budgetMicros,
  budgetPer,
}: KeyLimitChanges): void {
  const problems = [
    ...listProblems('models', models, MAX_MODELS, modelProblem),
    ...countProblems('requests_per_minute', requestsPerMinute),
    ...countProblems('tokens_per_day', tokensPerDay),
    ...budgetProblems(budgetMicros, budgetPer),
    ...listProblems('addresses', addresses, MAX_ADDRESSES, addressProblem),
  ];
  if (problems.length === 0) return;
  throw new ServiceError('invalid_request', 'The limits of the key are invalid.', { details: problems });
}

/**
 * Checks that a key with a budget period has a budget.
 *
 * @param current the budget of the key before the change; `null` for a new key.
 * @throws {ServiceError} `invalid_request`.
 */
export function checkBudgetPeriod({ budgetMicros, budgetPer }: KeyLimitChanges, current: number | null): void {
  const budget = budgetMicros === undefined ? current : budgetMicros;
  if (budget !== null || budgetPer === null || budgetPer === undefined) return;
  throw new ServiceError('invalid_request', 'The key has no budget: set the budget together with its period.');
}

function listProblems(
  field: string,
  list: readonly string[] | null | undefined,
  most: number,
  problemOf: (item: string) => string | undefined,
): ErrorDetail[] {
  if (list === null || list === undefined) return [];
  if (list.length === 0 || list.length > most) return [{ field, message: `must have 1 to ${most} entries` }];
  return list.flatMap((item) => {
    const message = problemOf(item);
    return message === undefined ? [] : [{ field, message }];
  });
}

function modelProblem(text: string): string | undefined {
  const name = text.slice(text.indexOf('/') + 1);
  if (MODEL.test(text) && (name === '*' || !text.includes('*'))) return undefined;
  return `"${text}" must be a model id or <vendor>/*`;
}

function addressProblem(text: string): string | undefined {
  if (parseAddressRange(text) !== undefined) return undefined;
  return `"${text}" must be an IP address or a range, such as 10.0.0.0/8`;
}

function countProblems(field: string, value: number | null | undefined): ErrorDetail[] {
  if (value === null || value === undefined) return [];
  if (Number.isInteger(value) && value >= 1 && value <= MAX_COUNT) return [];
  return [{ field, message: `must be a whole number from 1 to ${MAX_COUNT}` }];
}

function budgetProblems(micros: number | null | undefined, per: string | null | undefined): ErrorDetail[] {
  const problems: ErrorDetail[] = [];
  if (typeof micros === 'number' && !(Number.isInteger(micros) && micros >= 1 && micros <= MAX_BUDGET * MICROS)) {
    problems.push({ field: 'budget', message: `must be an amount from 0.000001 to ${MAX_BUDGET}` });
  }
  if (typeof per === 'string' && per !== 'day' && per !== 'month') {
    problems.push({ field: 'budget_per', message: 'must be day or month' });
  }
  return problems;
}
