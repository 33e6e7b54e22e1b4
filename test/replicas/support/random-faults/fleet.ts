import { setTimeout as sleep } from 'node:timers/promises';
import { TcpProxy } from '../../../support/tcp-proxy.js';
import { Violation } from '../../../support/invariants.js';
import { waitFor } from '../../../support/wait-for.js';
import type { Replica, Replicas } from '../replicas.js';
import type { SharedStores } from '../stores.js';

const POSTGRES_PORT = 5432;
const REPLICAS = 3;
/** The grace period, and what a busy machine needs to stop a process. */
export const GRACE_SECONDS = 5;
const STARTED_WITHIN_MS = 120_000;
const STOPPED_WITHIN_MS = GRACE_SECONDS * 1000 + 40_000;

export type Part = 'postgres' | 'redis' | 'process';

/** A time in which something was done to a replica, by the monotonic clock. */
export interface Fault {
  readonly part: Part;
  readonly what: string;
  readonly from: number;
  to: number;
}

/** One replica, and those that take its place. */
export class Member {
  readonly faults: Fault[] = [];
  replica: Replica | undefined;
  readonly startedAt: number[] = [];
  /** Whether a fault ends the process, and starts another one. */
  isReplaced = false;

  constructor(
    readonly number: number,
    readonly postgres: TcpProxy,
    readonly redis: TcpProxy,
  ) {}

  /** Notes a fault. Returns a function that ends it. */
  begin(part: Part, what: string): () => void {
    const fault: Fault = { part, what, from: performance.now(), to: Infinity };
    this.faults.push(fault);
    return () => (fault.to = performance.now());
  }

  /** Whether there was a fault in this time, or shortly before. */
  hadFault(from: number, to: number, parts: readonly Part[] = ['postgres', 'redis', 'process']): boolean {
    return this.faults.some((fault) => parts.includes(fault.part) && fault.from <= to && fault.to >= from);
  }
}

/** Three replicas, each with links of its own to the stores. Notices a process that exits by itself. */
export class Fleet {
  readonly members: Member[] = [];
  readonly violations: Violation[] = [];
  private readonly outputs: (() => string)[] = [];
  private readonly expected = new WeakSet<Replica>();

  private constructor(
    readonly replicas: Replicas,
    readonly stores: SharedStores,
  ) {}

  static async start(replicas: Replicas, stores: SharedStores): Promise<Fleet> {
    const fleet = new Fleet(replicas, stores);
    for (let number = 0; number < REPLICAS; number++) {
      const links = [TcpProxy.start(POSTGRES_PORT), TcpProxy.start(stores.redis.port)] as const;
      fleet.members.push(new Member(number, await links[0], await links[1]));
    }
    await Promise.all(fleet.members.map((member) => fleet.startIn(member)));
    return fleet;
  }

  /** What all processes have printed. */
  get output(): string {
    return this.outputs.map((read) => read()).join('');
  }

  async startIn(member: Member): Promise<void> {
    if (member.replica !== undefined) return;
    const env = {
      ...this.replicas.linked(member.postgres, member.redis),
      SHUTDOWN_GRACE_SECONDS: String(GRACE_SECONDS),
    };
    // A process that finds no database exits, and is started again.
    const replica = await waitFor(() => this.replicas.add(env).catch(() => undefined), 'a start', STARTED_WITHIN_MS);
    member.replica = replica;
    member.startedAt.push(performance.now());
    const { process } = replica;
    this.outputs.push(() => process.stdout + process.stderr);
    void process.exited.then(({ code, stderr }) => {
      member.replica = undefined;
      this.replicas.remove(replica);
      if (this.expected.has(replica)) return;
      const facts = `replica ${member.number} exited with ${code}: ${stderr.slice(-2000)}${process.stdout.slice(-2000)}`;
      this.violations.push(new Violation('no process exits by itself', facts));
    });
  }

  /** Kills the process, and starts another one after some time. */
  async kill(member: Member, awayMs: number): Promise<void> {
    await this.replace(member, 'SIGKILL', async ({ process }) => {
      process.signal('SIGKILL');
      await process.exited;
      await sleep(awayMs);
    });
  }

  /** Stops the process in order, and starts another one. */
  async terminate(member: Member): Promise<void> {
    await this.replace(member, 'SIGTERM', async ({ process }) => {
      process.signal('SIGTERM');
      const exit = await Promise.race([process.exited, sleep(STOPPED_WITHIN_MS)]);
      if (exit?.code === 0) return;
      const facts = `replica ${member.number} exited with ${exit?.code} after SIGTERM: ${process.stdout.slice(-2000)}`;
      this.violations.push(new Violation('no process exits by itself', facts));
      await process.stop();
    });
  }

  private async replace(member: Member, what: string, end: (replica: Replica) => Promise<void>): Promise<void> {
    const { replica } = member;
    if (replica === undefined || member.isReplaced) return;
    const endFault = member.begin('process', what);
    member.isReplaced = true;
    this.expected.add(replica);
    await end(replica);
    await this.startIn(member);
    member.isReplaced = false;
    endFault();
  }

  async stop(): Promise<void> {
    for (const { replica } of this.members) if (replica !== undefined) this.expected.add(replica);
    // A link that lost the end of a connection keeps its transaction open, and the database could not be dropped.
    for (const { postgres, redis } of this.members) await Promise.all([postgres.stop(), redis.stop()]);
    await this.replicas.stop();
  }
}
