import type { OnApplicationShutdown } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import { periodOf } from '../../platform/config/limits/budget.js';
import { RedisUnavailable, RedisTimeout } from '../../platform/redis/redis-errors.js';
import type { RedisConnection } from '../../platform/redis/redis-connection.js';
import { InProcessLimitStore } from '../in-process/in-process-limit-store.js';
import type { LimitFallback } from '../limit-fallback.js';
import {
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
  joinedLease,
  reservedBy,
  type LeasePart,
  type LimitState,
} from '../limit-store.js';
import { TokensUsedLookup, type SeededLimit, type TokensUsed, wholeTokens } from '../tokens/tokens-used.js';
import { accountKeys, ADMIT, SETTLE, WITHDRAW, ADMITTED, UNSEEDED } from './account-scripts.js';
import { LeaseRenewal, type RenewedLease } from './lease-renewal.js';
import { PendingCommands } from './pending-commands.js';
import { ExhaustedWindows } from './exhausted-windows.js';
import { stateOf } from '../in-process/account-use.js';

const UNKNOWN = '';
/** The used tokens are looked up at most twice, because midnight can pass once during a lookup. */
const MAX_LOOKUPS = 2;

/** The used tokens of a limit since the beginning of a day or a month, and its end, as arguments of `ADMIT`. */
type Seed = readonly [tokens: string, endOfWindow: string];

/**
 * Counts in Redis, for all replicas, by the clock of Redis. An admission needs one round trip. While Redis is slow, requests
 * are refused with `unavailable`: load can make Redis slow, and the limits must stay exact.
 *
 * While Redis is unavailable, each replica admits its share of the limits and counts in the process. When Redis is back, the
 * replica adds its running requests to Redis.
 */
export class RedisLimitStore extends LimitStore implements OnApplicationShutdown {
  private readonly idPrefix = randomBytes(6).toString('base64url');
  private lastId = 0;
  private readonly renewal: LeaseRenewal;
  private readonly pending: PendingCommands;
  private readonly lookup: TokensUsedLookup;
  private readonly exhausted = new ExhaustedWindows();
  /** Always counts the streams of this process, because they count against its share when Redis becomes unavailable. */
  private readonly local: InProcessLimitStore;

  constructor(
    private readonly redis: RedisConnection,
    tokensUsed: TokensUsed,
    private readonly fallback: LimitFallback,
  ) {
    super();
    this.renewal = new LeaseRenewal(redis);
    this.pending = new PendingCommands(redis);
    this.lookup = new TokensUsedLookup(tokensUsed);
    this.local = new InProcessLimitStore({ tokensUsed, replicas: () => fallback.replicas });
    redis.whenUnavailable(() => {
      this.local.removeSeeds();
      this.exhausted.clear();
    });
  }

  async admit(request: AdmissionRequest): Promise<Admission> {
    const { accountId, limits } = request;
    const id = `${this.idPrefix}${(this.lastId++).toString(36)}`;
    try {
      const { refusedBy, states, granted, windowLeftMs } = await this.query(request, id);
      if (refusedBy !== undefined) {
        const kept = refusedBy.key === undefined ? ofAccount(states, limits) : states;
        this.exhausted.set(accountId, refusedBy, kept, windowLeftMs);
        return refusal(refusedBy.name, states);
      }
      const here = this.local.hold(accountId, limits, reservedBy(limits, granted));
      return { admitted: true, lease: this.lease(id, request, here), state: states };
    } catch (error) {
      if (error instanceof RedisTimeout && error.wasSent) this.withdraw(request, id);
      if (!(error instanceof RedisUnavailable)) throw error;
      return this.admitAlone(request, id, error.wasSent);
    }
  }

  async peek(accountId: string, limits: readonly Limit[]): Promise<LimitStates> {
    try {
      return (await this.query({ accountId, limits, tokens: { atLeast: 0, atMost: 0 } }, '')).states;
    } catch (error) {
      if (!(error instanceof RedisUnavailable)) throw error;
      return this.local.peek(accountId, limits);
    }
  }

  override precheck(accountId: string, limits: readonly Limit[]): Refusal | undefined {
    if (this.redis.isUnavailableFor(accountKeys(accountId)[0])) return this.local.precheck(accountId, limits);
    const exhausted = this.exhausted.get(accountId, limits);
    return exhausted && refusal(exhausted.name, exhausted.states);
  }

  onApplicationShutdown(): void {
    this.renewal.onApplicationShutdown();
  }

  /** @param wasSent whether Redis may have admitted the request too, but the reply did not arrive. */
  private async admitAlone(request: AdmissionRequest, id: string, wasSent: boolean): Promise<Admission> {
    const admission = await this.local.admit(request);
    if (!admission.admitted) {
      if (wasSent) this.withdraw(request, id);
      return admission;
    }
    this.fallback.admissions += 1;
    // The lease has the same id, so that Redis counts it only once.
    return { ...admission, lease: this.lease(id, request, admission.lease) };
  }

  /** Takes back an admission that Redis may have made, when the reply did not arrive. */
  private withdraw({ accountId, limits }: AdmissionRequest, id: string): void {
    for (const apiKey of subjectsOf(limits)) {
      const keys = accountKeys(accountId, apiKey);
      this.pending.send(keys[0], (client) => WITHDRAW.run(client, keys, [id]));
    }
  }

  private async query(request: AdmissionRequest, id: string): Promise<AdmissionReply> {
    const seeds = new Map<Limit, Seed>();
    const lookups = new Map<Limit, number>();
    for (;;) {
      const reply = await this.queryOnce(request, id, seeds);
      const { unseeded } = reply;
      if (unseeded === undefined) return reply;
      const asked = (lookups.get(unseeded) ?? 0) + 1;
      lookups.set(unseeded, asked);
      const window = periodOf(unseeded.window, reply.now);
      const used = asked > MAX_LOOKUPS ? undefined : await this.lookup.since(request.accountId, window.from, unseeded);
      seeds.set(unseeded, used === undefined ? [UNKNOWN, '0'] : [String(used), String(window.until)]);
    }
  }

  private async queryOnce(
    { accountId, limits, tokens }: AdmissionRequest,
    id: string,
    seeds: ReadonlyMap<Limit, Seed>,
  ): Promise<AdmissionReply> {
    const args = [id, String(tokens.atLeast), String(tokens.atMost), String(seeds.size)];
    for (const [limit, seed] of seeds) args.push(String(limits.indexOf(limit) + 1), ...seed);
    const subjects = subjectsOf(limits);
    const keys: string[] = [];
    for (const subject of subjects) {
      const own = subjects.length === 1 ? limits : limits.filter(({ key }) => key === subject);
      keys.push(...accountKeys(accountId, subject));
      args.push(String(own.length));
      for (const limit of own) {
        args.push(limit.name, limit.unit, limit.window, String(limit.max), String(costOf(limit)));
      }
    }
    const use = keys[0] as string;
    return readReply(await this.redis.run(use, (client) => ADMIT.run(client, keys, args)), limits);
  }

  private lease(id: string, { accountId, limits }: AdmissionRequest, here: Lease): Lease {
    const held = subjectsOf(limits).map((apiKey) => this.holdIn(id, accountId, apiKey, limits, here.tokens));
    return joinedLease(here.tokens, [here, ...held]);
  }

  /** Holds what the request uses of the limits of its account, or of a key. */
  private holdIn(
    id: string,
    accountId: string,
    apiKey: string | undefined,
    all: readonly Limit[],
    granted: number | undefined,
  ): LeasePart {
    const limits = all.filter(({ key }) => key === apiKey);
    const holdsSlot = limits.some(({ unit }) => unit === 'streams');
    const reserved = reservedBy(limits, granted);
    const renewed: RenewedLease = { id, accountId, apiKey, holdsSlot, reserved };
    const keys = accountKeys(accountId, apiKey);
    const [use, streams] = keys;
    this.renewal.add(renewed);
    this.renewal.removeIfEmpty(renewed);
    return {
      release: () => {
        if (!renewed.holdsSlot) return;
        renewed.holdsSlot = false;
        this.renewal.removeIfEmpty(renewed);
        this.pending.send(use, (client) => client.zrem(streams, id));
      },
      settle: (tokensUsed) => {
        const { reserved: held } = renewed;
        if (held === undefined) return;
        renewed.reserved = undefined;
        this.renewal.removeIfEmpty(renewed);
        const used = wholeTokens(tokensUsed) ?? held;
        const windows = limits.flatMap(({ name, unit, window }) => (unit === 'tokens' ? [name, window] : []));
        this.pending.send(use, (client) => SETTLE.run(client, keys, [id, String(held), String(used), ...windows]));
      },
    };
  }
}

/** The states of the limits that count all requests of the account. */
function ofAccount(states: LimitStates, limits: readonly Limit[]): LimitStates {
  if (keysOf(limits).length === 0) return states;
  const names = new Set(limits.filter(({ key }) => key === undefined).map(({ name }) => name));
  return Object.fromEntries(Object.entries(states).filter(([name]) => names.has(name)));
}

/** The reply of the script `ADMIT`. Times are by the clock of Redis. */
export interface AdmissionReply {
  /** A limit whose used tokens of the day or the month are not known yet. `undefined`: all that is needed is known. */
  readonly unseeded: SeededLimit | undefined;
  /** The limit that refuses the request. `undefined`: the request is admitted. */
  readonly refusedBy: Limit | undefined;
  readonly granted: number;
  /** The time of Redis, in milliseconds since 1970. */
  readonly now: number;
  readonly states: LimitStates;
  /** Milliseconds to the end of the window of the limit that refuses the request. */
  readonly windowLeftMs: number;
}

export function readReply(reply: unknown, limits: readonly Limit[]): AdmissionReply {
  const numbers = reply as readonly number[];
  const [outcome = ADMITTED, granted = 0, now = 0] = numbers;
  const states: Record<string, LimitState> = {};
  let next = 3;
  for (const limit of limits) {
    states[limit.name] = stateOf(limit, Math.max(0, numbers[next] ?? 0), (numbers[next + 1] ?? 0) - now);
    next += 2;
  }
  return {
    unseeded: outcome === UNSEEDED ? (limits[granted - 1] as SeededLimit | undefined) : undefined,
    refusedBy: limits[outcome - 1],
    granted,
    now,
    states,
    windowLeftMs: (numbers[2 * outcome + 2] ?? now) - now,
  };
}
