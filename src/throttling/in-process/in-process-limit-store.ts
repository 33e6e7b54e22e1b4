import type { Clock } from '../../platform/common/clock.js';
import { periodOf } from '../../platform/config/limits/budget.js';
import {
  bucketOf,
  costOf,
  keysOf,
  LimitStore,
  refusal,
  subjectsOf,
  type Admission,
  type AdmissionRequest,
  type Lease,
  type Limit,
  type LimitStates,
  type Refusal,
  type TokenDemand,
  joinedLease,
  reservedBy,
  type LeasePart,
} from '../limit-store.js';
import {
  seededLimits,
  type SeededLimit,
  type TokensUsed,
  wholeTokens,
  TokensUsedLookup,
} from '../tokens/tokens-used.js';
import { AccountUse, statesOf, type Balance } from './account-use.js';

/** Above this number, accounts without streams are removed even if they have used tokens today. */
const MAX_ACCOUNTS = 100_000;
/** How many accounts each admission checks for removal. So the work of removal is spread over the admissions. */
const CHECKED_AT_ONCE = 4;
const ANY_TOKENS: TokenDemand = { atLeast: 1, atMost: 1 };

interface InProcessLimitStoreOptions {
  readonly tokensUsed?: TokensUsed;
  readonly now?: Clock;
  /** How many processes share each limit. By default, only this process uses the limits. */
  readonly replicas?: () => number;
}

/** Counts the use of limits in this process. */
export class InProcessLimitStore extends LimitStore {
  /** The use of each account, and of each key with limits of its own. */
  private readonly accounts = new Map<string, AccountUse>();
  private readonly lookup: TokensUsedLookup;
  private readonly now: Clock;
  private readonly replicas: () => number;

  constructor({
    tokensUsed = { since: () => Promise.resolve(0) },
    now = Date.now,
    replicas = () => 1,
  }: InProcessLimitStoreOptions = {}) {
    super();
    this.lookup = new TokensUsedLookup(tokensUsed);
    this.now = now;
    this.replicas = replicas;
  }

  async admit({ accountId, limits, tokens }: AdmissionRequest): Promise<Admission> {
    const seeding = this.seed(accountId, limits);
    if (seeding !== undefined) await seeding;
    this.evictSome();
    const now = this.now();
    const balances = this.balances(accountId, limits, now, true);
    const refusedBy = refusing(balances, tokens);
    if (refusedBy !== undefined) return refusal(refusedBy.limit.name, statesOf(balances, now));
    let granted: number | undefined;
    for (const { limit, remaining } of balances) {
      if (limit.unit === 'tokens') granted = Math.min(granted ?? tokens.atMost, remaining);
    }
    for (const balance of balances) {
      const { unit, window } = balance.limit;
      const cost = unit === 'tokens' ? (granted ?? 0) : costOf(balance.limit);
      if (window !== 'none') balance.use.count(balance.limit, unit === 'requests' ? cost : 0, now);
      balance.remaining -= cost;
    }
    const lease = this.lease(accountId, limits, granted);
    return { admitted: true, lease, state: statesOf(balances, now) };
  }

  async peek(accountId: string, limits: readonly Limit[]): Promise<LimitStates> {
    await this.seed(accountId, limits);
    const now = this.now();
    return statesOf(this.balances(accountId, limits, now), now);
  }

  override precheck(accountId: string, limits: readonly Limit[]): Refusal | undefined {
    if (!this.accounts.has(accountId)) return undefined;
    const now = this.now();
    const balances = this.balances(accountId, limits, now);
    const refusedBy = refusing(balances, ANY_TOKENS);
    return refusedBy && refusal(refusedBy.limit.name, statesOf(balances, now));
  }

  /** Holds what Redis has granted to a request that runs in this process. */
  hold(accountId: string, limits: readonly Limit[], granted: number | undefined): Lease {
    this.evictSome();
    return this.lease(accountId, limits, granted);
  }

  /** Makes the recorded tokens of all accounts unknown again, because other replicas use tokens that are not counted here. */
  removeSeeds(): void {
    for (const use of this.accounts.values()) use.removeSeeds();
  }

  /** The balances of the limits of the account, and of each key. With `keep`, their uses are kept from now on. */
  private balances(accountId: string, limits: readonly Limit[], now: number, keep = false): UsedBalance[] {
    const useAt = (key?: string) =>
      keep ? this.useOf(bucketOf(accountId, key)) : this.knownUse(bucketOf(accountId, key));
    const replicas = this.replicas();
    if (keysOf(limits).length === 0) return balancesIn(useAt(), limits, replicas, now);
    return subjectsOf(limits).flatMap((key) => balancesIn(useAt(key), ofKey(limits, key), replicas, now));
  }

  private lease(accountId: string, limits: readonly Limit[], granted: number | undefined): Lease {
    if (keysOf(limits).length === 0)
      return { tokens: granted, ...this.leaseIn(this.useOf(accountId), limits, granted) };
    const parts = subjectsOf(limits).map((key) =>
      this.leaseIn(this.useOf(bucketOf(accountId, key)), ofKey(limits, key), granted),
    );
    return joinedLease(granted, parts);
  }

  private leaseIn(use: AccountUse, limits: readonly Limit[], granted: number | undefined): LeasePart {
    let holdsSlot = limits.some(({ unit }) => unit === 'streams');
    const reserved = reservedBy(limits, granted);
    let isSettled = reserved === undefined;
    if (holdsSlot) use.held.streams += 1;
    use.held.tokens += reserved ?? 0;
    return {
      release: () => {
        if (holdsSlot) use.held.streams -= 1;
        holdsSlot = false;
      },
      settle: (tokensUsed) => {
        if (isSettled) return;
        isSettled = true;
        use.held.tokens -= reserved ?? 0;
        const used = wholeTokens(tokensUsed) ?? reserved ?? 0;
        for (const limit of limits) if (limit.unit === 'tokens') use.count(limit, used, this.now());
      },
    };
  }

  private knownUse(bucket: string): AccountUse {
    return this.accounts.get(bucket) ?? new AccountUse();
  }

  private useOf(bucket: string): AccountUse {
    let use = this.accounts.get(bucket);
    if (use === undefined) this.accounts.set(bucket, (use = new AccountUse()));
    return use;
  }

  /** Asks for the tokens of the day or the month, once for each account and key. Returns `undefined` when they are known. */
  private seed(accountId: string, limits: readonly Limit[]): Promise<unknown> | undefined {
    const unseeded = seededLimits(limits).filter(
      (limit) => this.accounts.get(bucketOf(accountId, limit.key))?.isSeeded(limit, this.now()) !== true,
    );
    if (unseeded.length === 0) return undefined;
    return Promise.all(unseeded.map((limit) => this.seedFromLedger(accountId, limit)));
  }

  private async seedFromLedger(accountId: string, limit: SeededLimit): Promise<void> {
    const { from } = periodOf(limit.window, this.now());
    const used = await this.lookup.since(accountId, from, limit);
    // When midnight in UTC has passed meanwhile, the sum is about yesterday.
    if (used === undefined || periodOf(limit.window, this.now()).from !== from) return;
    this.useOf(bucketOf(accountId, limit.key)).seed(limit, used, this.now());
  }

  private evictSome(): void {
    const now = this.now();
    const exceptDays = this.accounts.size > MAX_ACCOUNTS;
    let left = CHECKED_AT_ONCE;
    for (const [bucket, use] of this.accounts) {
      if (left-- === 0) return;
      // A Map keeps the order of insertion. An account that stays moves to the end, so the next admission checks others.
      this.accounts.delete(bucket);
      if (!use.isIdle(now, exceptDays)) this.accounts.set(bucket, use);
    }
  }
}

/** A balance, and where it is counted. */
interface UsedBalance extends Balance {
  readonly use: AccountUse;
}

function balancesIn(use: AccountUse, limits: readonly Limit[], replicas: number, now: number): UsedBalance[] {
  return use.balances(limits, replicas, now).map((balance) => Object.assign(balance, { use }));
}

function ofKey(limits: readonly Limit[], wanted: string | undefined): readonly Limit[] {
  return limits.filter(({ key }) => key === wanted);
}

/** Returns the first limit of which too little remains. */
function refusing(balances: readonly Balance[], tokens: TokenDemand): Balance | undefined {
  return balances.find(
    ({ limit, remaining }) => remaining < (limit.unit === 'tokens' ? tokens.atLeast : costOf(limit)),
  );
}
