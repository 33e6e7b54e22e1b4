import type { BeforeApplicationShutdown, OnApplicationShutdown } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import { RedisUnavailable } from '../../redis/redis-unavailable.js';
import type { RedisConnection } from '../../redis/redis-connection.js';
import { RedisSlow } from '../../redis/redis-slow.js';
import { InProcessLimitStore, refusal } from '../in-process/in-process-limit-store.js';
import type { LimitFallback } from '../limit-fallback.js';
import {
  LimitStore,
  type Admission,
  type AdmissionRequest,
  type Lease,
  type LimitState,
  type Refusal,
  type TierLimits,
} from '../limit-store.js';
import { TokensUsedLookup } from '../tokens/tokens-used-lookup.js';
import type { TokensUsed } from '../tokens/tokens-used.js';
import { wholeTokens } from '../tokens/whole-tokens.js';
import { accountKeys } from './account-keys.js';
import { ADMIT, REFUSED_BY, RENEW, SETTLE, UNSEEDED, WITHDRAW } from './account-scripts.js';
import { readReply, type AdmissionReply } from './admission-reply.js';
import { LeaseRenewal, type RenewedLease } from './lease-renewal.js';
import { Outbox } from './outbox.js';
import { ReplicaCount } from './replica-count.js';
import { SpentMinutes } from './spent-minutes.js';

const NOT_ASKED = '?';
const NOBODY_SAYS = '';
/** The used tokens are asked for at most twice, because midnight can pass once between a question and its answer. */
const MOST_QUESTIONS = 2;

/**
 * Counts in Redis, for all replicas, by the clock of Redis. An admission needs one round trip. While Redis is slow, requests
 * are refused with `unavailable`: load can make Redis slow, and the limits must stay exact.
 *
 * While Redis is unavailable, each replica admits its share of the limits and counts in the process. When Redis is back, the
 * replica adds its running requests to Redis.
 */
export class RedisLimitStore extends LimitStore implements BeforeApplicationShutdown, OnApplicationShutdown {
  private readonly idPrefix = randomBytes(6).toString('base64url');
  private lastId = 0;
  private readonly renewal: LeaseRenewal;
  private readonly outbox: Outbox;
  private readonly replicas: ReplicaCount;
  private readonly lookup: TokensUsedLookup;
  private readonly spent = new SpentMinutes();
  /** Always counts the streams of this process, because they count against its share when Redis becomes unavailable. */
  private readonly local: InProcessLimitStore;

  constructor(
    private readonly redis: RedisConnection,
    tokensUsed: TokensUsed,
    private readonly fallback: LimitFallback,
  ) {
    super();
    redis.whenBack(() => void this.loadScripts());
    this.renewal = new LeaseRenewal(redis);
    this.outbox = new Outbox(redis);
    this.replicas = new ReplicaCount(redis, fallback);
    this.lookup = new TokensUsedLookup(tokensUsed);
    this.local = new InProcessLimitStore({ tokensUsed, replicas: () => fallback.replicas });
    redis.whenUnavailable(() => {
      this.local.forgetLearntTokens();
      this.spent.clear();
    });
  }

  async admit(request: AdmissionRequest): Promise<Admission> {
    const { accountId, limits } = request;
    const id = `${this.idPrefix}${(this.lastId++).toString(36)}`;
    try {
      const { outcome, state, granted, minuteLeftMs } = await this.ask(request, id);
      const refusedBy = REFUSED_BY[outcome];
      if (refusedBy === 'requests') this.spent.note(accountId, state, minuteLeftMs);
      if (refusedBy !== undefined) return refusal(refusedBy, state);
      const reserved = limits.tokensPerDay === undefined ? undefined : granted;
      const here = this.local.hold(accountId, limits.concurrentStreams !== undefined, reserved);
      return { admitted: true, lease: this.lease(id, request, here), state };
    } catch (error) {
      if (error instanceof RedisSlow && error.wasSent) this.withdraw(accountId, id);
      if (!(error instanceof RedisUnavailable)) throw error;
      return this.admitAlone(request, id, error.wasSent);
    }
  }

  async peek(accountId: string, limits: TierLimits): Promise<LimitState> {
    try {
      return (await this.ask({ accountId, limits, tokens: { atLeast: 0, atMost: 0 } }, '')).state;
    } catch (error) {
      if (!(error instanceof RedisUnavailable)) throw error;
      return this.local.peek(accountId, limits);
    }
  }

  override foresee(accountId: string, limits: TierLimits): Refusal | undefined {
    if (this.redis.isUnavailableFor(accountKeys(accountId)[0])) return this.local.foresee(accountId, limits);
    const state = this.spent.stateOf(accountId, limits.requestsPerMinute);
    return state && refusal('requests', state);
  }

  /** Runs in this hook, because the connection to Redis may be closed before {@link onApplicationShutdown} is called. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.replicas.leave();
  }

  onApplicationShutdown(): void {
    this.renewal.onApplicationShutdown();
  }

  /**
   * Loads the scripts before any other command is sent. Without this, a settlement could need two round trips, and later
   * commands could overtake it.
   */
  private async loadScripts(): Promise<void> {
    const all = [ADMIT, SETTLE, RENEW, WITHDRAW];
    await this.redis
      .runOnEach((client) => Promise.all(all.map((script) => script.load(client))))
      .catch(() => undefined);
  }

  /** @param wasSent whether Redis may have admitted the request too, but the reply did not arrive. */
  private async admitAlone(request: AdmissionRequest, id: string, wasSent: boolean): Promise<Admission> {
    const admission = await this.local.admit(request);
    if (!admission.admitted) {
      if (wasSent) this.withdraw(request.accountId, id);
      return admission;
    }
    this.fallback.admissions += 1;
    // The lease has the same id, so that Redis counts it only once.
    return { ...admission, lease: this.lease(id, request, admission.lease) };
  }

  /** Takes back an admission that Redis may have made, when the reply did not arrive. */
  private withdraw(accountId: string, id: string): void {
    const keys = accountKeys(accountId);
    this.outbox.send(keys[0], (client) => WITHDRAW.run(client, keys, [id]));
  }

  private async ask(request: AdmissionRequest, id: string): Promise<AdmissionReply> {
    let seed: readonly [tokens: string, day: string] = [NOT_ASKED, '0'];
    for (let questions = 0; ; questions++) {
      const reply = await this.askOnce(request, id, seed);
      if (reply.outcome !== UNSEEDED) return reply;
      const used = questions < MOST_QUESTIONS ? await this.lookup.since(request.accountId, reply.day) : undefined;
      seed = used === undefined ? [NOBODY_SAYS, '0'] : [String(used), String(reply.day)];
    }
  }

  private async askOnce(
    { accountId, limits, tokens }: AdmissionRequest,
    id: string,
    seed: readonly [string, string],
  ): Promise<AdmissionReply> {
    const { requestsPerMinute = -1, concurrentStreams = -1, tokensPerDay = -1 } = limits;
    const numbers = [requestsPerMinute, concurrentStreams, tokensPerDay, tokens.atLeast, tokens.atMost];
    const args = [id, ...numbers.map(String), ...seed];
    const keys = accountKeys(accountId);
    return readReply(await this.redis.run(keys[0], (client) => ADMIT.run(client, keys, args)), limits);
  }

  private lease(id: string, { accountId, limits }: AdmissionRequest, here: Lease): Lease {
    const holdsPlace = limits.concurrentStreams !== undefined;
    const renewed: RenewedLease = { id, accountId, holdsPlace, reserved: here.tokens };
    const keys = accountKeys(accountId);
    const [use, streams] = keys;
    this.renewal.add(renewed);
    this.renewal.removeIfEmpty(renewed);
    return {
      tokens: here.tokens,
      release: () => {
        here.release();
        if (!renewed.holdsPlace) return;
        renewed.holdsPlace = false;
        this.renewal.removeIfEmpty(renewed);
        this.outbox.send(use, (client) => client.zRem(streams, id));
      },
      settle: (tokensUsed) => {
        here.settle(tokensUsed);
        const { reserved } = renewed;
        if (reserved === undefined) return;
        renewed.reserved = undefined;
        this.renewal.removeIfEmpty(renewed);
        const used = wholeTokens(tokensUsed) ?? reserved;
        this.outbox.send(use, (client, again) =>
          SETTLE.run(client, keys, [id, String(reserved), String(used), again ? '1' : '0']),
        );
      },
    };
  }
}
