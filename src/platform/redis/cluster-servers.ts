import slotOf from 'cluster-key-slot';
import type { Cluster } from 'ioredis';
import type { RedisAddress } from '../config/sources/redis-url.js';
import { elapsedMs } from '../common/timers/pace.js';
import { newClusterClient, type RedisClient } from './redis-client.js';
import { reasonOf } from './redis-errors.js';
import { ServerHealth, type ServerEvents } from './server-health.js';

const SLOT_COUNT = 16_384;

/** The masters of a Redis Cluster. Redirections and moved slots are followed by ioredis. */
export class ClusterServers {
  readonly client: RedisClient;
  lastFailure = 'not connected yet';
  private readonly cluster: Cluster;
  private readonly byName = new Map<string, ServerHealth>();
  private readonly probeKeys = new Map<string, string>();
  private hasSlots = false;

  constructor(
    address: Extract<RedisAddress, { kind: 'cluster' }>,
    private readonly events: ServerEvents,
  ) {
    this.cluster = newClusterClient(address);
    // Both classes have the same commands.
    this.client = this.cluster as unknown as RedisClient;
    this.cluster
      .on('error', this.onFailure)
      .on('node error', this.onFailure)
      .on('refresh', () => {
        this.review();
      });
  }

  get all(): readonly ServerHealth[] {
    return [...this.byName.values()];
  }

  /** Whether each slot has a master, and no master is unavailable. */
  get isWhole(): boolean {
    return this.cluster.slots.length === SLOT_COUNT && this.all.every(({ state }) => state !== 'down');
  }

  /** Returns the server of the key, or `undefined` if no server is known. */
  of(key: string): ServerHealth | undefined {
    const name = this.cluster.slots[slotOf(key)]?.[0];
    if (name === undefined) return undefined;
    if (!this.byName.has(name)) this.review();
    return this.byName.get(name);
  }

  start(): void {
    this.cluster.connect().catch(() => undefined);
  }

  /** Reads which master serves which slot. */
  refresh(): void {
    this.cluster.refreshSlotsCache();
  }

  close(): void {
    for (const server of this.all) server.close();
  }

  private readonly onFailure = (error: unknown): void => {
    this.lastFailure = reasonOf(error);
  };

  private review(): void {
    const masters = new Map(this.cluster.nodes('master').map((node) => [nameOf(node), node]));
    for (const [name, server] of this.byName) {
      if (masters.get(name) === server.client) continue;
      server.close();
      this.byName.delete(name);
    }
    this.probeKeys.clear();
    for (const [name, node] of masters) {
      if (this.byName.has(name)) continue;
      const server = this.healthOf(name, node);
      this.byName.set(name, server);
      server.start();
    }
    this.hasSlots = true;
  }

  private healthOf(name: string, node: RedisClient): ServerHealth {
    const { onUp, onDown } = this.events;
    const events = {
      onUp,
      onDown: (reason: string) => {
        this.lastFailure = `${name}: ${reason}`;
        onDown(this.lastFailure);
      },
    };
    // A later master may have taken over from a lost one, and may lack its last writes. This counts as the end of an outage.
    return new ServerHealth(node, () => this.probeKeyOf(name), events, this.hasSlots ? elapsedMs() : undefined);
  }

  /** Returns a key that the master holds, or `undefined` when the master serves no slot. */
  private probeKeyOf(name: string): string | undefined {
    const { slots } = this.cluster;
    for (let number = 0; !this.probeKeys.has(name) && slots.some(([owner]) => owner === name); number++) {
      const key = `chat:probe:{${number}}`;
      if (slots[slotOf(key)]?.[0] === name) this.probeKeys.set(name, key);
    }
    return this.probeKeys.get(name);
  }
}

function nameOf({ options }: RedisClient): string {
  return `${options.host ?? ''}:${options.port ?? ''}`;
}
