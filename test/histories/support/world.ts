import type { LinkState } from './link.js';
import type { Owner, VirtualTime } from './virtual-time.js';

/** The process of a simulated replica. */
export class SimulatedProcess implements Owner {
  /** `Infinity`: it was killed. */
  stoppedUntil = -Infinity;
  /** For how long it was stopped in total. */
  stoppedMs = 0;

  get isKilled(): boolean {
    return this.stoppedUntil === Infinity;
  }
}

export interface SimulatedReplica {
  readonly owner: SimulatedProcess;
  /** The connection to the store that all replicas share. `undefined`: there is no other replica. */
  readonly connection: { set(state: LinkState): void } | undefined;
  /** Stops as after SIGTERM. Resolves when the process would exit. */
  shutDown?(): Promise<void>;
}

/** The replicas of one service, and the faults of each of them. */
export abstract class World<Replica extends SimulatedReplica = SimulatedReplica> {
  readonly replicas: Replica[] = [];

  constructor(readonly time: VirtualTime) {}

  /** Lets everything come to its end, and checks what was seen. @throws {Violation} */
  abstract check(): Promise<void>;

  async link(number: number, state: LinkState): Promise<void> {
    const replica = this.replicas[number];
    if (replica === undefined) return;
    // A cut ends what waits for replies at once.
    await this.time.as(replica.owner, () => replica.connection?.set(state));
  }

  /** SIGSTOP, and later SIGCONT. */
  stop(number: number, ms: number): void {
    const owner = this.running(number)?.owner;
    if (owner === undefined) return;
    owner.stoppedUntil = this.time.nowMs + ms;
    owner.stoppedMs += ms;
  }

  /** SIGKILL. */
  kill(number: number): void {
    const replica = this.replicas[number];
    if (replica === undefined || replica.owner.isKilled) return;
    replica.owner.stoppedUntil = Infinity;
    this.onKilled(replica);
  }

  /** SIGTERM. */
  async shutDown(number: number): Promise<void> {
    const replica = this.running(number);
    if (replica === undefined) return;
    await this.time.as(replica.owner, () => {
      void replica.shutDown?.().then(() => {
        this.kill(number);
      });
    });
  }

  /** Returns a replica unless it is stopped. */
  protected running(number: number): Replica | undefined {
    const replica = this.replicas[number % this.replicas.length];
    return replica === undefined || replica.owner.stoppedUntil > this.time.nowMs ? undefined : replica;
  }

  protected get alive(): readonly Replica[] {
    return this.replicas.filter(({ owner }) => !owner.isKilled);
  }

  /** Notes what was lost with a replica. */
  protected abstract onKilled(replica: Replica): void;
}
