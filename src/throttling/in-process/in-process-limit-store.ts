import type { Clock } from '../../common/clock.js';
import {
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
import { seededLimit } from '../tokens/seeded-limit.js';
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
    const use = this.useOf(accountId);
    const now = this.now();
    const balances = use.balances(limits, this.replicas(), now);
    const refusedBy = refusing(balances, tokens);
    if (refusedBy !== undefined) return refusal(refusedBy.limit.name, statesOf(balances, now));
    let granted: number | undefined;
    for (const { limit, remaining } of balances) {
      if (limit.unit === 'tokens') granted = Math.min(granted ?? tokens.atMost, remaining);
    }
    for (const balance of balances) {
      const { unit, window } = balance.limit;
      if (window !== 'none') use.count(balance.limit, unit === 'requests' ? 1 : 0, now);
      balance.remaining -= unit === 'tokens' ? (granted ?? 0) : 1;
    }
    const lease = this.lease(use, limits, granted);
    return { admitted: true, lease, state: statesOf(balances, now) };
  }

  async peek(accountId: string, limits: readonly Limit[]): Promise<LimitStates> {
    await this.seed(accountId, limits);
    const use = this.accounts.get(accountId) ?? new AccountUse();
    const now = this.now();
    return statesOf(use.balances(limits, this.replicas(), now), now);
  }

  override precheck(accountId: string, limits: readonly Limit[]): Refusal | undefined {
    const use = this.accounts.get(accountId);
    if (use === undefined) return undefined;
    const now = this.now();
    const balances = use.balances(limits, this.replicas(), now);
    const refusedBy = refusing(balances, ANY_TOKENS);
    return refusedBy && refusal(refusedBy.limit.name, statesOf(balances, now));
  }

  /** Holds what Redis has granted to a request that runs in this process. */
  hold(accountId: string, limits: readonly Limit[], granted: number | undefined): Lease {
    this.forgetSome();
    return this.lease(this.useOf(accountId), limits, granted);
  }

  /** Makes the recorded tokens of all accounts unknown again, because other replicas use tokens that are not counted here. */
  forgetSeeds(): void {
    for (const use of this.accounts.values()) use.forgetSeeds();
  }

  private lease(use: AccountUse, limits: readonly Limit[], granted: number | undefined): Lease {
    let holdsSlot = limits.some(({ unit }) => unit === 'streams');
    let isSettled = granted === undefined;
    if (holdsSlot) use.held.streams += 1;
    use.held.tokens += granted ?? 0;
    return {
      tokens: granted,
      release: () => {
        if (holdsSlot) use.held.streams -= 1;
        holdsSlot = false;
      },
      settle: (tokensUsed) => {
        if (isSettled) return;
        isSettled = true;
        use.held.tokens -= granted ?? 0;
        const used = wholeTokens(tokensUsed) ?? granted ?? 0;
        for (const limit of limits) if (limit.unit === 'tokens') use.count(limit, used, this.now());
      },
    };
  }

  private useOf(accountId: string): AccountUse {
    let use = this.accounts.get(accountId);
    if (use === undefined) this.accounts.set(accountId, (use = new AccountUse()));
    return use;
  }

  /** Asks the ledger for the tokens of the day, once a day for each account. Returns `undefined` when they are known. */
  private seed(accountId: string, limits: readonly Limit[]): Promise<void> | undefined {
    const limit = seededLimit(limits);
    if (limit === undefined || this.accounts.get(accountId)?.isSeeded(limit, this.now()) === true) return undefined;
    return this.seedFromLedger(accountId, limit);
  }

  private async seedFromLedger(accountId: string, limit: Limit): Promise<void> {
    const day = startOfDay(this.now());
    const used = await this.lookup.since(accountId, day);
    // When midnight in UTC has passed meanwhile, the sum is about yesterday.
    if (used !== undefined && startOfDay(this.now()) === day) this.useOf(accountId).seed(limit, used, this.now());
  }

  private forgetSome(): void {
    const now = this.now();
    const exceptDays = this.accounts.size > MAX_ACCOUNTS;
    let left = CHECKED_AT_ONCE;
    for (const [accountId, use] of this.accounts) {
      if (left-- === 0) return;
      // A Map keeps the order of insertion. An account that stays moves to the end, so the next admission checks others.
      this.accounts.delete(accountId);
      if (!use.isIdle(now, exceptDays)) this.accounts.set(accountId, use);
    }
  }
}

/** Returns the first limit of which too little remains. */
function refusing(balances: readonly Balance[], tokens: TokenDemand): Balance | undefined {
  return balances.find(({ limit, remaining }) => remaining < (limit.unit === 'tokens' ? tokens.atLeast : 1));
}
