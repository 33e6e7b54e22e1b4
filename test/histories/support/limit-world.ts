import type { RedisClient } from '../../../src/platform/redis/redis-client.js';
import { LimitFallback } from '../../../src/throttling/limit-fallback.js';
import type { Lease, Limit } from '../../../src/throttling/limit-store.js';
import { RedisLimitStore } from '../../../src/throttling/redis/redis-limit-store.js';
import { hold, Violation } from '../../support/invariants.js';
import type { SeededRandom } from '../../support/seeded-random.js';
import { Link, type LinkState } from './link.js';
import { SimulatedRedis } from './simulated-redis.js';
import type { VirtualTime } from './virtual-time.js';
import { SimulatedProcess, World, type SimulatedReplica } from './world.js';

export const SLOTS = 4;
const TOKENS = 100_000;
const LIMITS: readonly Limit[] = [
  { name: 'concurrent_streams', unit: 'streams', window: 'none', max: SLOTS },
  { name: 'tokens_per_day', unit: 'tokens', window: 'day', max: TOKENS },
];
const TOKENS_OF_REQUEST = { atLeast: 10, atMost: 100 };
/** Leases of killed replicas are free after 25 s. After an outage, all replicas have renewed theirs in this time. */
const EXACT_AFTER_MS = 30_000;
/** Redis knows a lease for so long, also without a renewal. */
const KNOWN_FOR_MS = 24_000;
/** After Redis was emptied, all replicas have told it their leases within this time. */
const RENEWED_WITHIN_MS = 10_000;
/** From the look into the ledger until Redis has its sum. A replica may be stopped meanwhile. */
const SEEDED_WITHIN_MS = 15_000;
/** The most streams of a replica without Redis. */
const shareOf = (replicas: number): number => Math.ceil(SLOTS / replicas);
const AT_REST_WITHIN_MS = 60_000;
/** An admission waits for its reply, and for a replica that is stopped. */
const OVER_WITHIN_MS = 30_000;

interface Replica extends SimulatedReplica {
  readonly connection: SimulatedRedis;
  readonly store: RedisLimitStore;
  readonly fallback: LimitFallback;
  readonly open: Map<Lease, { readonly isByRedis: boolean; readonly askedAtMs: number }>;
  isLinked: boolean;
  /** The end of its last fault. */
  disturbedAt: number;
  /** How many of its admissions without Redis have been seen. */
  admittedAlone: number;
}

/** Requests of one account with limits to several replicas on one Redis. */
export class LimitWorld extends World<Replica> {
  private waiting = 0;
  /** The tokens of all requests that are over. */
  private used = 0;
  private hasLost = false;
  private emptiedAt = -Infinity;
  /** The last look into the ledger. */
  private lookedAt = -Infinity;
  /** The tokens of requests that have ended while Redis got the sum of the ledger. */
  private usedMeanwhile = 0;
  private readonly violations: Violation[] = [];
  /** What remains of the limits when nothing runs. */
  private rest: { readonly streams: number | undefined; readonly tokens: number | undefined } | undefined;

  constructor(
    time: VirtualTime,
    private readonly account: string,
    private readonly random: SeededRandom,
    client: RedisClient,
    private readonly flush: () => Promise<void>,
    count: number,
  ) {
    super(time);
    for (let number = 0; number < count; number++) {
      const owner = new SimulatedProcess();
      const connection = new SimulatedRedis(time, new Link(time, owner, random), client);
      const fallback = new LimitFallback();
      fallback.replicas = count;
      const store = new RedisLimitStore(connection.asConnection, { since: () => this.readLedger() }, fallback);
      const counts = { open: new Map(), isLinked: true, disturbedAt: -Infinity, admittedAlone: 0 };
      this.replicas.push({ owner, connection, store, fallback, ...counts });
    }
  }

  async admit(number: number): Promise<void> {
    const replica = this.running(number);
    if (replica === undefined) return;
    const { owner, store, fallback, open } = replica;
    await this.time.as(owner, () => {
      void (async () => {
        this.waiting += 1;
        const askedAtMs = this.time.nowMs;
        const request = { accountId: this.account, limits: LIMITS, tokens: TOKENS_OF_REQUEST };
        const admission = await store.admit(request).catch(() => undefined);
        this.waiting -= 1;
        if (admission?.admitted !== true) return;
        // Replies of Redis arrive one by one, so no other admission without Redis comes between this one and its count.
        const isByRedis = fallback.admissions === replica.admittedAlone;
        if (!isByRedis) replica.admittedAlone += 1;
        open.set(admission.lease, { isByRedis, askedAtMs });
        this.checkSlots(replica, isByRedis, askedAtMs);
      })();
    });
  }

  async end(number: number, index: number): Promise<void> {
    const replica = this.running(number);
    const lease = [...(replica?.open.keys() ?? [])][index];
    if (replica === undefined || lease === undefined) return;
    await this.time.as(replica.owner, () => {
      this.close(replica, lease);
    });
  }

  /** Redis loses everything, as in a restart without its data. */
  async empty(): Promise<void> {
    this.emptiedAt = this.time.nowMs;
    await this.flush();
  }

  override async link(number: number, state: LinkState): Promise<void> {
    const replica = this.replicas[number];
    if (replica === undefined) return;
    replica.isLinked = state === 'up';
    replica.disturbedAt = this.time.nowMs;
    await super.link(number, state);
  }

  override stop(number: number, ms: number): void {
    super.stop(number, ms);
    const replica = this.replicas[number];
    if (replica !== undefined) replica.disturbedAt = Math.max(replica.disturbedAt, replica.owner.stoppedUntil);
  }

  async check(): Promise<void> {
    await this.time.pass(OVER_WITHIN_MS);
    const [violation] = this.violations;
    if (violation !== undefined) throw violation;
    hold('every request ends', this.hasLost || this.waiting === 0, () => `${this.waiting} admissions wait`);
    for (const replica of this.alive) {
      await this.time.as(replica.owner, () => {
        for (const lease of [...replica.open.keys()]) this.close(replica, lease);
      });
    }
    await this.time.pass(AT_REST_WITHIN_MS);
    const [first] = this.alive;
    if (first === undefined) return;
    await this.time.as(first.owner, () => {
      void this.readRest(first);
    });
    await this.time.pass(OVER_WITHIN_MS);
    const { rest } = this;
    hold('reserved = 0 at rest', rest?.streams === SLOTS, () => JSON.stringify(rest));
    const left = rest?.tokens ?? 0;
    const right = TOKENS - this.used;
    // What a killed replica had not sent is lost. What it had reserved is free.
    let isRight = this.hasLost ? left >= right : left === right;
    if (this.emptiedAt !== -Infinity) {
      // The ledger may already have what a replica tells Redis later.
      const isTooFew = left < right - this.used;
      isRight = !isTooFew && (this.hasLost || left <= right + this.usedMeanwhile);
    }
    hold('one record a call', isRight, () => `${left} tokens are left of ${TOKENS} after ${this.used}`);
  }

  protected override onKilled({ open }: Replica): void {
    open.clear();
    this.hasLost = true;
  }

  private async readRest({ store }: Replica): Promise<void> {
    const states = await store.peek(this.account, LIMITS);
    this.rest = {
      streams: states['concurrent_streams']?.remaining,
      tokens: states['tokens_per_day']?.remaining,
    };
  }

  /** A Redis that was never emptied learns all tokens from the replicas. */
  private readLedger(): Promise<number> {
    this.lookedAt = this.time.nowMs;
    return Promise.resolve(this.emptiedAt === -Infinity ? 0 : this.used);
  }

  private close(replica: Replica, lease: Lease): void {
    if (!replica.open.delete(lease)) return;
    const used = this.random.between(0, TOKENS_OF_REQUEST.atMost + 1);
    this.used += used;
    if (this.time.nowMs - this.lookedAt < SEEDED_WITHIN_MS) this.usedMeanwhile += used;
    lease.settle(used);
    lease.release();
  }

  /** @param askedAtMs when the latest lease was asked for. */
  private checkSlots(replica: Replica, isByRedis: boolean, askedAtMs: number): void {
    const now = this.time.nowMs;
    const { alive, emptiedAt } = this;
    const isRenewed = askedAtMs - emptiedAt > RENEWED_WITHIN_MS;
    const all = alive.flatMap((each) => [...each.open.values()].map((lease) => ({ ...lease, of: each })));
    // Redis forgets the leases of a replica that does not reach it for too long.
    const known = all.filter(
      ({ of: { disturbedAt, isLinked }, ...lease }) =>
        lease.isByRedis &&
        (lease.askedAtMs > emptiedAt || (isRenewed && isLinked && disturbedAt < emptiedAt)) &&
        (now - lease.askedAtMs < KNOWN_FOR_MS || (isLinked && disturbedAt < lease.askedAtMs)),
    );
    const isCalm =
      isRenewed && alive.every(({ isLinked, disturbedAt }) => isLinked && now - disturbedAt > EXACT_AFTER_MS);
    const share = shareOf(this.replicas.length);
    const isTooMany =
      (isByRedis && known.length > SLOTS) ||
      (isCalm && all.length > SLOTS) ||
      (!isByRedis && replica.open.size > share);
    const facts = `${all.length} streams run, ${known.length} of them known to Redis, ${replica.open.size} at this replica`;
    if (isTooMany) this.violations.push(new Violation('slots ≤ limit', facts));
  }
}
