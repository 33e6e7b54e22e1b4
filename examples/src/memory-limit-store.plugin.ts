import { Inject, Injectable } from '@nestjs/common';
import {
  ChatPlugin,
  CLOCK,
  LimitStore,
  TokensUsed,
  type Admission,
  type AdmissionRequest,
  type Limit,
} from 'chat-streaming-service';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

type Granted = Extract<Admission, { admitted: true }>['lease'];

/** What was counted for one limit in its window. */
interface Count {
  used: number;
  windowEndsAt: number;
}

/** What one account uses. Streams and tokens are held by streams that run. */
interface Use {
  readonly counts: Map<string, Count>;
  /** By unit and key, as the limits of each key count apart. */
  readonly held: Map<string, number>;
}

/** Counts the use of limits in this process. A store of a team would do the same in its own database. */
@Injectable()
export class MemoryLimitStore extends LimitStore {
  private readonly uses = new Map<string, Use>();

  constructor(
    private readonly tokensUsed: TokensUsed,
    @Inject(CLOCK) private readonly now: () => number,
  ) {
    super();
  }

  /** There is no wait between the check and the count, so requests that arrive together cannot both take the last slot. */
  async admit({ accountId, limits, tokens }: AdmissionRequest): Promise<Admission> {
    const use = await this.useOf(accountId, limits);
    const refused = limits.find((limit) => {
      return this.remaining(use, limit) < (limit.unit === 'tokens' ? tokens.atLeast : (limit.cost ?? 1));
    });
    if (refused !== undefined) {
      const state = this.statesOf(use, limits);
      const retryAfterSeconds = state[refused.name]?.resetSeconds ?? 1;
      return { admitted: false, refusedBy: refused.name, retryAfterSeconds, state };
    }
    const lease = this.take(use, limits, tokens.atMost);
    return { admitted: true, lease, state: this.statesOf(use, limits) };
  }

  async peek(accountId: string, limits: readonly Limit[]): Promise<Admission['state']> {
    return this.statesOf(await this.useOf(accountId, limits), limits);
  }

  private take(use: Use, limits: readonly Limit[], atMost: number): Granted {
    const ofTokens = limits.filter(({ unit }) => unit === 'tokens');
    const reserved = Math.min(atMost, ...ofTokens.map((limit) => this.remaining(use, limit)));
    const ofStreams = limits.filter(({ unit }) => unit === 'streams');
    let isSettled = ofTokens.length === 0;
    let holdsSlot = true;
    for (const limit of limits) {
      if (limit.window === 'none') continue;
      const count = this.countOf(use, limit);
      // A negative cost gives requests back.
      count.used = Math.max(0, count.used + (limit.unit === 'requests' ? (limit.cost ?? 1) : 0));
    }
    this.hold(use, ofStreams, 1);
    this.hold(use, ofTokens, reserved);
    return {
      tokens: isSettled ? undefined : reserved,
      release: () => {
        if (holdsSlot) this.hold(use, ofStreams, -1);
        holdsSlot = false;
      },
      settle: (tokensUsed) => {
        if (isSettled) return;
        isSettled = true;
        this.hold(use, ofTokens, -reserved);
        const used = Number.isFinite(tokensUsed) && tokensUsed >= 0 ? Math.round(tokensUsed) : reserved;
        for (const limit of ofTokens) this.countOf(use, limit).used += used;
      },
    };
  }

  private async useOf(accountId: string, limits: readonly Limit[]): Promise<Use> {
    let use = this.uses.get(accountId);
    if (use === undefined) this.uses.set(accountId, (use = { counts: new Map(), held: new Map() }));
    for (const limit of limits) {
      if (limit.unit !== 'tokens' || limit.window === 'minute' || use.counts.has(placeOf(limit))) continue;
      // Tokens may have been counted before the process started.
      const from = new Date(startOf(limit.window, this.now()));
      const used = await (limit.usedBefore?.(from) ?? this.tokensUsed.since(accountId, from, limit.key));
      // Another request may have been faster.
      if (!use.counts.has(placeOf(limit))) this.countOf(use, limit).used = used;
    }
    return use;
  }

  /** Returns the count of the current window. Begins a new window when the last one has ended. */
  private countOf(use: Use, limit: Limit): Count {
    const now = this.now();
    const place = placeOf(limit);
    let count = use.counts.get(place);
    if (count === undefined || now >= count.windowEndsAt) {
      count = { used: 0, windowEndsAt: endOf(limit.window, now) };
      use.counts.set(place, count);
    }
    return count;
  }

  private remaining(use: Use, limit: Limit): number {
    const used = limit.window === 'none' ? 0 : this.countOf(use, limit).used;
    return Math.max(0, limit.max - used - (use.held.get(`${limit.unit} ${limit.key ?? ''}`) ?? 0));
  }

  private hold({ held }: Use, limits: readonly Limit[], amount: number): void {
    for (const place of new Set(limits.map(({ unit, key }) => `${unit} ${key ?? ''}`))) {
      held.set(place, (held.get(place) ?? 0) + amount);
    }
  }

  private statesOf(use: Use, limits: readonly Limit[]): Admission['state'] {
    const states: Record<string, Admission['state'][string]> = {};
    for (const limit of limits) {
      const state = { limit: limit.max, remaining: this.remaining(use, limit) };
      const leftMs = limit.window === 'none' ? undefined : this.countOf(use, limit).windowEndsAt - this.now();
      states[limit.name] = leftMs === undefined ? state : { ...state, resetSeconds: Math.ceil(leftMs / 1_000) };
    }
    return states;
  }
}

function placeOf({ name, key }: Limit): string {
  return `${name} ${key ?? ''}`;
}

function startOf(window: Limit['window'], now: number): number {
  const date = new Date(now);
  return window === 'month' ? Date.UTC(date.getUTCFullYear(), date.getUTCMonth()) : now - (now % DAY_MS);
}

function endOf(window: Limit['window'], now: number): number {
  const date = new Date(now);
  if (window === 'month') return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
  return window === 'day' ? now - (now % DAY_MS) + DAY_MS : now + MINUTE_MS;
}

@ChatPlugin({ name: 'memory-limits', compatibility: '^1', limitStore: MemoryLimitStore })
export class MemoryLimitsPlugin {}
