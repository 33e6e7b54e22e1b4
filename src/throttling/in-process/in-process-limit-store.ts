import type { Clock } from '../../common/clock.js';
import {
  LimitStore,
  type Admission,
  type AdmissionRequest,
  type Lease,
  type LimitName,
  type LimitState,
  type Refusal,
  type TierLimits,
  type TokenDemand,
} from '../limit-store.js';
import { TokensUsedLookup } from '../tokens/tokens-used-lookup.js';
import { NoTokensUsed, type TokensUsed } from '../tokens/tokens-used.js';
import { startOfDay } from '../../common/utc-day.js';
import { wholeTokens } from '../tokens/whole-tokens.js';
import { AccountUse } from './account-use.js';

/** Above this number, accounts without streams are removed even if they have used tokens today. */
const MAX_ACCOUNTS = 100_000;
/** How many accounts each admission checks for removal. So the work of removal is spread over the admissions. */
const LOOKED_AT = 4;
/** A place becomes free when a stream ends. The time is unknown, so a client may retry soon. */
const STREAMS_RETRY_SECONDS = 1;

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
    await this.knowTokens(accountId, limits);
    this.forgetSome();
    const use = this.useOf(accountId);
    const state = this.stateOf(use, limits);
    const refusedBy = use.refusedBy(state, tokens);
    if (refusedBy !== undefined) return refusal(refusedBy, state);
    const reserved = state.tokens && Math.min(tokens.atMost, state.tokens.remaining);
    if (limits.requestsPerMinute !== undefined) use.countRequest(this.now());
    const lease = this.lease(use, limits.concurrentStreams !== undefined, reserved);
    return { admitted: true, lease, state: this.stateOf(use, limits) };
  }

  async peek(accountId: string, limits: TierLimits): Promise<LimitState> {
    await this.knowTokens(accountId, limits);
    return this.stateOf(this.accounts.get(accountId) ?? new AccountUse(), limits);
  }

  override foresee(accountId: string, limits: TierLimits): Refusal | undefined {
    const use = this.accounts.get(accountId);
    if (use === undefined) return undefined;
    const state = this.stateOf(use, limits);
    const refusedBy = use.refusedBy(state, ANY_TOKENS);
    return refusedBy && refusal(refusedBy, state);
  }

  /** Counts a request that Redis has admitted and that runs in this process. */
  hold(accountId: string, holdsPlace: boolean, reserved: number | undefined): Lease {
    this.forgetSome();
    return this.lease(this.useOf(accountId), holdsPlace, reserved);
  }

  /** Makes the used tokens of all accounts unknown again, because other replicas use tokens that are not counted here. */
  forgetLearntTokens(): void {
    for (const use of this.accounts.values()) use.forgetLearntTokens();
  }

  private lease(use: AccountUse, holdsPlace: boolean, reserved: number | undefined): Lease {
    let isPlaceHeld = holdsPlace;
    let isSettled = reserved === undefined;
    if (holdsPlace) use.streams += 1;
    use.tokensReserved += reserved ?? 0;
    return {
      tokens: reserved,
      release: () => {
        if (isPlaceHeld) use.streams -= 1;
        isPlaceHeld = false;
      },
      settle: (tokensUsed) => {
        if (isSettled) return;
        isSettled = true;
        use.tokensReserved -= reserved ?? 0;
        use.addTokens(wholeTokens(tokensUsed) ?? reserved ?? 0, this.now());
      },
    };
  }

  private stateOf(use: AccountUse, limits: TierLimits): LimitState {
    return use.state(limits, this.replicas(), this.now());
  }

  private useOf(accountId: string): AccountUse {
    let use = this.accounts.get(accountId);
    if (use === undefined) this.accounts.set(accountId, (use = new AccountUse()));
    return use;
  }

  private async knowTokens(accountId: string, { tokensPerDay }: TierLimits): Promise<void> {
    if (tokensPerDay === undefined || this.accounts.get(accountId)?.knowsTokens(this.now()) === true) return;
    const day = startOfDay(this.now());
    const used = await this.lookup.since(accountId, day);
    // When midnight in UTC has passed meanwhile, the answer is about yesterday.
    if (used !== undefined && startOfDay(this.now()) === day) this.useOf(accountId).learnTokens(used, this.now());
  }

  private forgetSome(): void {
    const now = this.now();
    const exceptTokens = this.accounts.size > MAX_ACCOUNTS;
    let left = LOOKED_AT;
    for (const [accountId, use] of this.accounts) {
      if (left-- === 0) return;
      // A Map keeps the order of insertion. An account that stays moves to the end, so the next admission checks others.
      this.accounts.delete(accountId);
      if (!use.isIdle(now, exceptTokens)) this.accounts.set(accountId, use);
    }
  }
}

const ANY_TOKENS: TokenDemand = { atLeast: 1, atMost: 1 };

export function refusal(refusedBy: LimitName, state: LimitState): Refusal {
  const retryAfterSeconds =
    refusedBy === 'streams' ? STREAMS_RETRY_SECONDS : (state[refusedBy]?.resetSeconds ?? STREAMS_RETRY_SECONDS);
  return { admitted: false, refusedBy, retryAfterSeconds, state };
}
