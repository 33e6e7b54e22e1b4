import type { Clock } from '../../common/clock.js';
import {
  keyOf,
  LimitStore,
  refusal,
  type Admission,
  type AdmissionRequest,
  type Lease,
  type Limit,
  type LimitStates,
  type Refusal,
  type TokenDemand,
} from '../limit-store.js';
import { seededLimits } from '../tokens/seeded-limit.js';
import { TokensUsedLookup } from '../tokens/tokens-used-lookup.js';
import { NoTokensUsed, type TokensUsed } from '../tokens/tokens-used.js';
import { startOfDay } from '../../common/utc-day.js';
import { wholeTokens } from '../tokens/whole-tokens.js';
import { AccountUse, statesOf, type Balance } from './account-use.js';

/** Above this number, accounts without streams are removed even if they have used tokens today. */
const MAX_ACCOUNTS = 100_000;
/** How many accounts each admission checks for removal. So the work of removal is spread over the admissions. */
const CHECKED_AT_ONCE = 4;
const ANY_TOKENS: TokenDemand = { atLeast: 1, atMost: 1 };

export interface InProcessLimitStoreOptions {
  readonly tokensUsed?: TokensUsed;
  readonly now?: Clock;
  /** How many processes share each limit. By default, only this process uses the limits. */
  readonly replicas?: () => number;
}

/** Counts the use of limits in this process. */
export class InProcessLimitStore extends LimitStore {
  /** The use of each account, and of each API key with limits of its own. */
  private readonly accounts = new Map<string, AccountUse>();
  private readonly lookup: TokensUsedLookup;
  private readonly now: Clock;
  private readonly replicas: () => number;

  constructor({
    tokensUsed = new NoTokensUsed(),
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
    this.forgetSome();
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
      if (window !== 'none') balance.use.count(balance.limit, unit === 'requests' ? 1 : 0, now);
      balance.remaining -= unit === 'tokens' ? (granted ?? 0) : 1;
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
    this.forgetSome();
    return this.lease(accountId, limits, granted);
  }

  /** Makes the recorded tokens of all accounts unknown again, because other replicas use tokens that are not counted here. */
  forgetSeeds(): void {
    for (const use of this.accounts.values()) use.forgetSeeds();
  }

  /** The balances of the limits of the account, and of the API key. With `keep`, their uses are kept from now on. */
  private balances(accountId: string, limits: readonly Limit[], now: number, keep = false): UsedBalance[] {
    const useAt = (key?: string) =>
      keep ? this.useOf(placeOf(accountId, key)) : this.knownUse(placeOf(accountId, key));
    const replicas = this.replicas();
    const key = keyOf(limits);
    if (key === undefined) return balancesIn(useAt(), limits, replicas, now);
    return [
      ...balancesIn(useAt(), ofKey(limits, undefined), replicas, now),
      ...balancesIn(useAt(key), ofKey(limits, key), replicas, now),
    ];
  }

  private lease(accountId: string, limits: readonly Limit[], granted: number | undefined): Lease {
    const key = keyOf(limits);
    if (key === undefined) return { tokens: granted, ...this.leaseIn(this.useOf(accountId), limits, granted) };
    const ofAccount = this.leaseIn(this.useOf(accountId), ofKey(limits, undefined), granted);
    const here = this.leaseIn(this.useOf(placeOf(accountId, key)), ofKey(limits, key), granted);
    return {
      tokens: granted,
      release: ofAccount.release,
      settle: (tokensUsed) => {
        ofAccount.settle(tokensUsed);
        here.settle(tokensUsed);
      },
    };
  }

  private leaseIn(
    use: AccountUse,
    limits: readonly Limit[],
    granted: number | undefined,
  ): Pick<Lease, 'release' | 'settle'> {
    let holdsSlot = limits.some(({ unit }) => unit === 'streams');
    const reserved = limits.some(({ unit }) => unit === 'tokens') ? granted : undefined;
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

  private knownUse(place: string): AccountUse {
    return this.accounts.get(place) ?? new AccountUse();
  }

  private useOf(place: string): AccountUse {
    let use = this.accounts.get(place);
    if (use === undefined) this.accounts.set(place, (use = new AccountUse()));
    return use;
  }

  /** Asks the ledger for the tokens of the day, once a day for each account and key. Returns `undefined` when they are known. */
  private seed(accountId: string, limits: readonly Limit[]): Promise<unknown> | undefined {
    const unseeded = seededLimits(limits).filter(
      (limit) => this.accounts.get(placeOf(accountId, limit.key))?.isSeeded(limit, this.now()) !== true,
    );
    if (unseeded.length === 0) return undefined;
    return Promise.all(unseeded.map((limit) => this.seedFromLedger(accountId, limit)));
  }

  private async seedFromLedger(accountId: string, limit: Limit): Promise<void> {
    const day = startOfDay(this.now());
    const used = await this.lookup.since(accountId, day, limit.key);
    // When midnight in UTC has passed meanwhile, the sum is about yesterday.
    if (used === undefined || startOfDay(this.now()) !== day) return;
    this.useOf(placeOf(accountId, limit.key)).seed(limit, used, this.now());
  }

  private forgetSome(): void {
    const now = this.now();
    const exceptDays = this.accounts.size > MAX_ACCOUNTS;
    let left = CHECKED_AT_ONCE;
    for (const [place, use] of this.accounts) {
      if (left-- === 0) return;
      // A Map keeps the order of insertion. An account that stays moves to the end, so the next admission checks others.
      this.accounts.delete(place);
      if (!use.isIdle(now, exceptDays)) this.accounts.set(place, use);
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

/** An account and each of its API keys have a place of their own. */
function placeOf(accountId: string, key: string | undefined): string {
  return key === undefined ? accountId : `${accountId} ${key}`;
}

function ofKey(limits: readonly Limit[], wanted: string | undefined): readonly Limit[] {
  return limits.filter(({ key }) => key === wanted);
}

/** Returns the first limit of which too little remains. */
function refusing(balances: readonly Balance[], tokens: TokenDemand): Balance | undefined {
  return balances.find(({ limit, remaining }) => remaining < (limit.unit === 'tokens' ? tokens.atLeast : 1));
}
