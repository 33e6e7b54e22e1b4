import { toServiceError } from '../../../src/platform/http/errors/to-service-error.js';
import type { Principal } from '../../../src/auth/principal/principal.js';
import type { ServiceError } from '../../../src/platform/common/service-error.js';
import { hold, Violation } from '../../support/invariants.js';
import type { SeededRandom } from '../../support/seeded-random.js';
import { CREDENTIALS, crowdLog, CredentialValidity, storeCredentials, type Credential } from './credentials.js';
import { Link, type LinkState } from './link.js';
import { RevocationReplica } from './revocation-replica.js';
import { SimulatedDatabase, type SharedDatabase } from './simulated-database.js';
import { SimulatedProbe } from './simulated-probe.js';
import type { VirtualTime } from './virtual-time.js';
import { SimulatedProcess, World } from './world.js';

/** The contract. */
const REFUSED_WITHIN_MS = 1_000;
const STREAMS_END_WITHIN_MS = 2_000;
/** Most transactions are short. The service has none that takes a minute. */
const OPEN_MS = [0, 0, 0, 5, 200, 3_000, 50_000];
/** How long a request reads its body and waits for its limits before its stream begins. */
const BEFORE_STREAM_MS = [0, 0, 20, 800, 3_000];
const CLOCKS_MS = [0, -3_600_000, 40_000];
/** A lookup tries three times, and asks after each try whether the database is available. */
const ANSWERED_WITHIN_MS = 20_000;
const CALM_MS = 3_000;

interface Stream {
  readonly replica: RevocationReplica;
  readonly credential: Credential;
  readonly begunAtMs: number;
  readonly remove: () => void;
}

/** Requests with keys and sessions to several replicas, and what the database says of each key and session. */
export class RevocationWorld extends World<RevocationReplica> {
  private readonly validity = new CredentialValidity();
  private readonly open = new Set<Stream>();
  private readonly waiting = new Set<{ readonly replica: RevocationReplica }>();
  private readonly violations: Violation[] = [];

  constructor(
    time: VirtualTime,
    private readonly shared: SharedDatabase,
    private readonly random: SeededRandom,
  ) {
    super(time);
  }

  async start(count: number): Promise<void> {
    await storeCredentials(this.shared);
    this.shared.openMs = () => this.random.pick(OPEN_MS);
    for (let number = 0; number < count; number++) await this.begin(number);
  }

  /** Ends a process, and begins another one in its place. */
  async restart(number: number): Promise<void> {
    this.kill(number);
    await this.begin(number);
  }

  /** Sends all credentials to a replica, some times. */
  async use(number: number, count: number, everyMs: number): Promise<void> {
    const replica = this.running(number);
    if (replica === undefined) return;
    await this.time.as(replica.owner, () => {
      for (let sent = 0; sent < count; sent++) {
        this.time.after(sent * everyMs, () => {
          for (const credential of CREDENTIALS) void this.request(replica, credential);
        });
      }
    });
  }

  /** Sends a request for a stream that runs until its client leaves. */
  async stream(replica: RevocationReplica, credential: Credential): Promise<void> {
    const principal = await this.request(replica, credential);
    if (principal === undefined) return;
    this.time.after(this.random.pick(BEFORE_STREAM_MS), () => {
      const end = ({ code }: ServiceError): void => {
        const { isValid, since } = this.validity.of(credential);
        if (isValid && since < stream.begunAtMs) this.found('valid is accepted', `a stream ends with ${code}`);
        this.checkStream(stream);
        this.close(stream);
      };
      const remove = replica.streams.add(principal, end);
      const stream: Stream = { replica, credential, begunAtMs: this.time.nowMs, remove };
      this.open.add(stream);
    });
  }

  async leave(index: number): Promise<void> {
    const stream = [...this.open][index % Math.max(1, this.open.size)];
    if (stream === undefined) return;
    await this.time.as(stream.replica.owner, () => {
      this.close(stream);
    });
  }

  /** Lets a replica do what it may refuse while its database is unavailable. */
  async act(number: number, act: (replica: RevocationReplica) => Promise<unknown>): Promise<void> {
    const replica = this.running(number);
    if (replica === undefined) return;
    await this.time.as(replica.owner, () => {
      act(replica).catch((error: unknown) => {
        this.checkCode(toServiceError(error).code);
      });
    });
  }

  crowd(): void {
    crowdLog(this.shared, this.time.nowMs);
  }

  override async link(number: number, state: LinkState): Promise<void> {
    this.checkOpen();
    this.replicas[number]?.reach.linked(state);
    await super.link(number, state);
  }

  slow(number: number, ms: number): void {
    const replica = this.replicas[number];
    if (replica === undefined) return;
    this.checkOpen();
    replica.database.link.slowMs = ms;
    replica.reach.slowed(ms);
  }

  /** Lets some queries of a replica fail from now on, all of them or none. */
  fail(number: number, chance: number): void {
    const replica = this.replicas[number];
    if (replica === undefined) return;
    this.checkOpen();
    replica.database.fails = () => this.random.chance(chance);
    replica.reach.failed(chance > 0);
  }

  override stop(number: number, ms: number): void {
    this.checkOpen();
    super.stop(number, ms);
    const replica = this.replicas[number];
    replica?.reach.stopped(replica.owner.stoppedUntil);
  }

  async check(): Promise<void> {
    for (const number of this.replicas.keys()) {
      this.slow(number, 0);
      this.fail(number, 0);
    }
    await this.time.pass(ANSWERED_WITHIN_MS);
    this.checkOpen();
    hold('every request ends', this.waiting.size === 0, () => `${this.waiting.size} requests wait`);
    for (const number of this.replicas.keys()) await this.use(number, 1, 0);
    await this.time.pass(CALM_MS);
    hold('every request ends', this.waiting.size === 0, () => `${this.waiting.size} requests wait`);
    const [violation] = this.violations;
    if (violation !== undefined) throw violation;
    for (const stream of this.open) this.close(stream);
    for (const { watch, streams } of this.replicas) {
      hold('reserved = 0 at rest', watch.size + streams.count === 0, () => `${watch.size}, ${streams.count}`);
    }
  }

  protected override onKilled(replica: RevocationReplica): void {
    this.checkOpen();
    for (const stream of this.open) if (stream.replica === replica) this.open.delete(stream);
    for (const request of this.waiting) if (request.replica === replica) this.waiting.delete(request);
  }

  private async begin(number: number): Promise<void> {
    const owner = new SimulatedProcess();
    const [link, probe] = [0, 1].map(() => new Link(this.time, owner, this.random, 0)) as [Link, Link];
    const database = new SimulatedDatabase(this.time, link, this.shared, () => {
      this.readValidity();
    });
    const clockMs = this.random.pick(CLOCKS_MS);
    const replica = new RevocationReplica(this.time, owner, database, new SimulatedProbe(probe), clockMs);
    this.replicas[number] = replica;
    await this.time.as(owner, () => {
      replica.start();
    });
  }

  /** Notes what a transaction has just changed. */
  private readValidity(): void {
    for (const credential of this.validity.read(this.shared, this.time.nowMs)) {
      for (const { reach } of this.replicas) reach.known.delete(credential);
    }
  }

  /** Verifies a credential, and judges the outcome. */
  private async request(replica: RevocationReplica, credential: Credential): Promise<Principal | undefined> {
    const request = { replica, askedAtMs: this.time.nowMs };
    this.waiting.add(request);
    try {
      const principal = await replica.verify(credential);
      this.judge(replica, credential, principal !== undefined);
      return principal;
    } catch (error) {
      const { code } = toServiceError(error);
      this.checkCode(code);
      // Nothing has disturbed the replica since some time before the request.
      const isCalm = replica.reach.calmSince < request.askedAtMs - CALM_MS;
      if (isCalm) this.found('valid is accepted', `${credential.id} gets ${code} of a replica that nothing disturbs`);
      return undefined;
    } finally {
      this.waiting.delete(request);
    }
  }

  private judge({ reach }: RevocationReplica, credential: Credential, isAccepted: boolean): void {
    const { isValid, since } = this.validity.of(credential);
    const agoMs = this.time.nowMs - since;
    if (!isAccepted && !isValid) reach.known.add(credential);
    if (isAccepted === isValid || agoMs <= REFUSED_WITHIN_MS) return;
    const facts = `${credential.id} at ${this.time.nowMs}, ${agoMs} ms after its change`;
    if (isAccepted && (!reach.mayTrust || reach.known.has(credential))) this.found('revoked in time', facts);
    // A credential that was always valid is never refused.
    if (!isAccepted && (!reach.mayTrust || since === -Infinity)) this.found('valid is accepted', facts);
  }

  private close(stream: Stream): void {
    stream.remove();
    this.open.delete(stream);
  }

  /** Checks what has to have happened before the next disturbance. */
  private checkOpen(): void {
    for (const stream of this.open) this.checkStream(stream);
    for (const credential of CREDENTIALS) {
      const { isValid, since } = this.validity.of(credential);
      if (isValid) continue;
      for (const { reach } of this.replicas) if (reach.hasNoticed(since)) reach.known.add(credential);
    }
  }

  private checkStream({ replica: { reach }, credential, begunAtMs }: Stream): void {
    const { isValid, since } = this.validity.of(credential);
    const overdueMs = this.time.nowMs - Math.max(since, begunAtMs, reach.calmSince) - STREAMS_END_WITHIN_MS;
    if (!isValid && overdueMs > 0)
      this.found('revoked in time', `a stream of ${credential.id} ends ${overdueMs} ms late`);
  }

  private checkCode(code: string): void {
    if (code !== 'unavailable') this.found('no internal error', code);
  }

  private found(...violation: ConstructorParameters<typeof Violation>): void {
    this.violations.push(new Violation(...violation));
  }
}
