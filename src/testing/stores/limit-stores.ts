import { randomUUID } from 'node:crypto';
import { afterEach } from 'vitest';
import type { TierLimits } from '../../platform/config/limits/limit-table.js';
import {
  NO_TOKENS,
  type Admission,
  type Lease,
  type LimitStore,
  type TokenDemand,
} from '../../throttling/limit-store.js';
import { limitsOf } from '../../throttling/account-limits.js';
import type { TokensUsed } from '../../throttling/tokens/tokens-used.js';

/**
 * A store as one process has it.
 *
 * @since 1.0
 */
export interface OpenedLimitStore {
  readonly store: LimitStore;
  /** Releases what the store holds, such as connections. */
  close?(): Promise<void>;
}

/**
 * A kind of limit store, and what may differ between kinds.
 *
 * @since 1.0
 */
export interface LimitStoreContract {
  /** For the names of the tests, such as `in Redis`. */
  readonly name: string;
  /**
   * Opens a store. Stores that are open at the same time count together, as the stores of replicas.
   *
   * @param tokensUsed what accounts used before, for the injected `TokensUsed`.
   */
  open(tokensUsed: TokensUsed): OpenedLimitStore | Promise<OpenedLimitStore>;
  /** The number of replicas of a test. By default 1. Use at least 2 for a store that replicas share. */
  readonly replicas?: number;
}

export { NO_TOKENS };
export const exactly = (tokens: number): TokenDemand => ({ atLeast: tokens, atMost: tokens });

/** The stores of the tests of one suite. They are closed after each test. */
export function limitStores({ open, replicas = 1 }: LimitStoreContract) {
  const opened: OpenedLimitStore[] = [];
  const openOne = async (tokensUsed: TokensUsed = { since: () => Promise.resolve(0) }): Promise<LimitStore> => {
    const one = await open(tokensUsed);
    opened.push(one);
    return one.store;
  };
  afterEach(async () => {
    await Promise.all(opened.splice(0).map(async (one) => one.close?.()));
  });
  return {
    replicas,
    openOne,
    openAll: (tokensUsed?: TokensUsed) => Promise.all(Array.from({ length: replicas }, () => openOne(tokensUsed))),
  };
}

export type LimitStores = ReturnType<typeof limitStores>;

export function admit(
  store: LimitStore,
  accountId: string,
  limits: TierLimits,
  tokens = NO_TOKENS,
): Promise<Admission> {
  return store.admit({ accountId, limits: limitsOf(limits), tokens });
}

/** Requests of a new account at the same time, spread over the stores. */
export async function burst(stores: readonly LimitStore[], count: number, limits: TierLimits, tokens = NO_TOKENS) {
  const accountId = randomUUID();
  const admissions = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      admit(stores[index % stores.length] as LimitStore, accountId, limits, tokens),
    ),
  );
  return { accountId, admissions };
}

export function admittedOf(admissions: readonly Admission[]): readonly Admission[] {
  return admissions.filter(({ admitted }) => admitted);
}

export function leaseOf(admission: Admission): Lease {
  if (!admission.admitted) throw new Error(`Refused by ${admission.refusedBy}.`);
  return admission.lease;
}
