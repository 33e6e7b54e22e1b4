import { Inject, Injectable } from '@nestjs/common';
import {
  ChatPlugin,
  CLOCK,
  LimitStore,
  TokensUsed,
  type Admission,
  type AdmissionRequest,
  type Clock,
  type Lease,
  type Limit,
  type LimitState,
  type LimitStates,
} from 'chat-streaming-service';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** What was counted for one limit in its window. */
interface Count {
  used: number;
  windowEndsAt: number;
}

/** What one account uses. Streams and tokens are held by streams that run. */
interface Use {
  readonly counts: Map<string, Count>;
  readonly held: { requests: number; streams: number; tokens: number };
}

/** Counts the use of limits in this process. A store of a team would do the same in its own database. */
@Injectable()
export class MemoryLimitStore extends LimitStore {
  private readonly uses = new Map<string, Use>();

  constructor(
    private readonly tokensUsed: TokensUsed,
    @Inject(CLOCK) private readonly now: Clock,
  ) {
    super();
  }

  /** There is no wait between the check and the count, so requests that arrive together cannot both take the last slot. */
  async admit({ accountId, limits, tokens }: AdmissionRequest): Promise<Admission> {
    const use = await this.useOf(accountId, limits);
    const refused = limits.find((limit) => {
      return this.remaining(use, limit) < (limit.unit === 'tokens' ? tokens.atLeast : 1);
    });
    if (refused !== undefined) {
      const state = this.statesOf(use, limits);
      const retryAfterSeconds = state[refused.name]?.resetSeconds ?? 1;
      return { admitted: false, refusedBy: refused.name, retryAfterSeconds, state };
    }
    const lease = this.take(use, limits, tokens.atMost);
    return { admitted: true, lease, state: this.statesOf(use, limits) };
  }

  async peek(accountId: string, limits: readonly Limit[]): Promise<LimitStates> {
    return this.statesOf(await this.useOf(accountId, limits), limits);
  }

  private take(use: Use, limits: readonly Limit[], atMost: number): Lease {
    const ofTokens = limits.filter(({ unit }) => unit === 'tokens');
    const reserved = Math.min(atMost, ...ofTokens.map((limit) => this.remaining(use, limit)));
    let isSettled = ofTokens.length === 0;
    let holdsSlot = limits.some(({ unit }) => unit === 'streams');
    for (const limit of limits) {
      if (limit.window !== 'none') this.countOf(use, limit).used += limit.unit === 'requests' ? 1 : 0;
    }
    if (holdsSlot) use.held.streams += 1;
    if (!isSettled) use.held.tokens += reserved;
    return {
      tokens: isSettled ? undefined : reserved,
      release: () => {
        if (holdsSlot) use.held.streams -= 1;
        holdsSlot = false;
      },
      settle: (tokensUsed) => {
        if (isSettled) return;
        isSettled = true;
        use.held.tokens -= reserved;
        const used = Number.isFinite(tokensUsed) && tokensUsed >= 0 ? Math.round(tokensUsed) : reserved;
        for (const limit of ofTokens) this.countOf(use, limit).used += used;
      },
    };
  }

  private async useOf(accountId: string, limits: readonly Limit[]): Promise<Use> {
    if (!this.uses.has(accountId)) {
      const held = { requests: 0, streams: 0, tokens: 0 };
      const use = { counts: new Map<string, Count>(), held };
      // The service may have counted tokens of this day before the process started.
      const perDay = limits.find(({ unit, window }) => unit === 'tokens' && window === 'day');
      if (perDay !== undefined) {
        const today = new Date(this.now() - (this.now() % DAY_MS));
        this.countOf(use, perDay).used = await this.tokensUsed.since(accountId, today);
      }
      // Another request may have been faster.
      if (!this.uses.has(accountId)) this.uses.set(accountId, use);
    }
    return this.uses.get(accountId) as Use;
  }

  /** Returns the count of the current window. Begins a new window when the last one has ended. */
  private countOf(use: Use, { name, window }: Limit): Count {
    const now = this.now();
    let count = use.counts.get(name);
    if (count === undefined || now >= count.windowEndsAt) {
      count = { used: 0, windowEndsAt: window === 'day' ? now - (now % DAY_MS) + DAY_MS : now + MINUTE_MS };
      use.counts.set(name, count);
    }
    return count;
  }

  private remaining(use: Use, limit: Limit): number {
    const used = limit.window === 'none' ? 0 : this.countOf(use, limit).used;
    return Math.max(0, limit.max - used - use.held[limit.unit]);
  }

  private statesOf(use: Use, limits: readonly Limit[]): LimitStates {
    const states: Record<string, LimitState> = {};
    for (const limit of limits) {
      const state = { limit: limit.max, remaining: this.remaining(use, limit) };
      const leftMs = limit.window === 'none' ? undefined : this.countOf(use, limit).windowEndsAt - this.now();
      states[limit.name] = leftMs === undefined ? state : { ...state, resetSeconds: Math.ceil(leftMs / 1_000) };
    }
    return states;
  }
}

@ChatPlugin({ name: 'memory-limits', compatibility: '^1', limitStore: MemoryLimitStore })
export class MemoryLimitsPlugin {}
