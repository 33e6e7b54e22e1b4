import { Inject, Injectable } from '@nestjs/common';
import {
  ChatPlugin,
  CLOCK,
  LimitStore,
  TokensUsed,
  type Admission,
  type AdmissionRequest,
  type Clock,
  type LimitName,
  type LimitState,
  type TierLimits,
} from 'chat-streaming-service';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** What one account uses. `reserved` tokens belong to streams that run. */
interface Use {
  requests: number;
  minuteEndsAt: number;
  streams: number;
  /** The day of `used`, in milliseconds since 1970. */
  day: number;
  used: number;
  reserved: number;
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

  /** There is no wait between the check and the count, so requests that arrive together cannot both take the last place. */
  async admit({ accountId, limits, tokens }: AdmissionRequest): Promise<Admission> {
    const use = await this.useOf(accountId, limits);
    const state = this.stateOf(use, limits);
    const refusedBy = refusalOf(state, tokens.atLeast);
    if (refusedBy !== undefined) {
      const limit = state[refusedBy];
      const retryAfterSeconds = limit !== undefined && 'resetSeconds' in limit ? limit.resetSeconds : 1;
      return { admitted: false, refusedBy, retryAfterSeconds, state };
    }
    const reserved = state.tokens && Math.min(tokens.atMost, state.tokens.remaining);
    use.requests += 1;
    use.streams += 1;
    use.reserved += reserved ?? 0;
    return { admitted: true, lease: this.leaseOf(use, reserved), state: this.stateOf(use, limits) };
  }

  async peek(accountId: string, limits: TierLimits): Promise<LimitState> {
    return this.stateOf(await this.useOf(accountId, limits), limits);
  }

  private leaseOf(use: Use, reserved: number | undefined) {
    let holdsPlace = true;
    let isSettled = false;
    return {
      tokens: reserved,
      release: (): void => {
        if (holdsPlace) use.streams -= 1;
        holdsPlace = false;
      },
      settle: (tokensUsed: number): void => {
        if (isSettled) return;
        isSettled = true;
        this.renew(use);
        use.reserved -= reserved ?? 0;
        use.used += Number.isFinite(tokensUsed) && tokensUsed >= 0 ? Math.round(tokensUsed) : (reserved ?? 0);
      },
    };
  }

  private async useOf(accountId: string, { tokensPerDay }: TierLimits): Promise<Use> {
    const day = startOfDay(this.now());
    const known = this.uses.get(accountId);
    if (known === undefined) {
      const used = tokensPerDay === undefined ? 0 : await this.tokensUsed.since(accountId, new Date(day));
      const use = { requests: 0, minuteEndsAt: 0, streams: 0, day, used, reserved: 0 };
      // Another request may have been faster.
      if (!this.uses.has(accountId)) this.uses.set(accountId, use);
    }
    const use = this.uses.get(accountId) as Use;
    this.renew(use);
    return use;
  }

  /** Begins a new minute and a new day when their time has come. */
  private renew(use: Use): void {
    const now = this.now();
    if (now >= use.minuteEndsAt) Object.assign(use, { requests: 0, minuteEndsAt: now + MINUTE_MS });
    if (startOfDay(now) !== use.day) Object.assign(use, { day: startOfDay(now), used: 0 });
  }

  private stateOf(use: Use, { requestsPerMinute, concurrentStreams, tokensPerDay }: TierLimits): LimitState {
    const left = (limit: number, used: number) => ({ limit, remaining: Math.max(0, limit - used) });
    const seconds = (end: number) => ({ resetSeconds: Math.max(1, Math.ceil((end - this.now()) / 1_000)) });
    const midnight = use.day + DAY_MS;
    return {
      requests:
        requestsPerMinute === undefined
          ? undefined
          : { ...left(requestsPerMinute, use.requests), ...seconds(use.minuteEndsAt) },
      streams: concurrentStreams === undefined ? undefined : left(concurrentStreams, use.streams),
      tokens:
        tokensPerDay === undefined
          ? undefined
          : { ...left(tokensPerDay, use.used + use.reserved), ...seconds(midnight), renewsAt: new Date(midnight) },
    };
  }
}

function refusalOf({ requests, streams, tokens }: LimitState, atLeast: number): LimitName | undefined {
  if (tokens !== undefined && tokens.remaining < atLeast) return 'tokens';
  if (requests?.remaining === 0) return 'requests';
  return streams?.remaining === 0 ? 'streams' : undefined;
}

function startOfDay(now: number): number {
  return now - (now % DAY_MS);
}

@ChatPlugin({ name: 'memory-limits', compatibility: '^1', limitStore: MemoryLimitStore })
export class MemoryLimitsPlugin {}
