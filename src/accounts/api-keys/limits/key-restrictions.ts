import type { Budget } from '../../../config/limits/budget.js';
import type { ApiKey } from '../api-key.entity.js';
import { isWithin, parseAddressRange, type AddressRange } from '../../../common/network/address-ranges.js';
import { KEY_LIMIT_NAMES } from './key-limits.js';

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
