import { randomUUID } from 'node:crypto';
import { Inject, Injectable, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { type Membership, MEMBERSHIP, REDIS, type RedisConnection } from '../../../../plugin-api/core/redis.js';
import { elapsedMs } from '../../../../plugin-api/core/common.js';
import { ServiceStatus, type StatusSnapshot } from './service-status.js';

/** A hash: the snapshot of each replica, by the id of the replica. */
const KEY = 'chat:status';
const PUBLISH_EVERY_MS = 10_000;
/** The lifetime of the hash, for an installation that ends. */
const LIFETIME_MS = 30_000;
/** Changes when a snapshot changes so that an earlier version could not show it. */
const FORMAT = '2';
/** A longer snapshot is not published. It has at most 800 bytes for each route, and 6 KB besides. */
const MAX_LENGTH = 256 * 1024;

/** The state of a replica, as another replica sees it. */
export interface ReplicaStatus {
  readonly id: string;
  readonly isThisProcess: boolean;
  readonly snapshot: StatusSnapshot;
}

/** The states of all replicas. Each replica publishes its own in Redis, every 10 seconds, with a heartbeat. */
@Injectable()
export class ReplicaStatuses implements OnModuleInit, BeforeApplicationShutdown {
  /** The id of this replica, as long as the process runs. */
  readonly id: string;
  private publishedAt = -Infinity;
  private hasLeft = false;

  constructor(
    private readonly status: ServiceStatus,
    @Inject(REDIS) private readonly redis: RedisConnection | undefined,
    @Inject(MEMBERSHIP) private readonly membership: Membership | undefined,
  ) {
    this.id = membership?.id ?? randomUUID();
  }

  onModuleInit(): void {
    this.membership?.whenBeaten(() => {
      if (!this.hasLeft && elapsedMs() - this.publishedAt >= PUBLISH_EVERY_MS) void this.publish();
    });
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.hasLeft = true;
    await this.redis?.run(KEY, (client) => client.hdel(KEY, this.id)).catch(() => undefined);
  }

  /**
   * Returns the state of this process, and those of the other replicas by name. `others` is `undefined` while Redis does not
   * answer, and empty without Redis.
   */
  async all(): Promise<{ readonly own: ReplicaStatus; readonly others: readonly ReplicaStatus[] | undefined }> {
    const own = { id: this.id, isThisProcess: true, snapshot: this.status.snapshot() };
    const { membership, redis } = this;
    if (redis === undefined || membership === undefined) return { own, others: [] };
    try {
      // A replica is a member before it publishes, so a state without a member is that of a dead replica.
      const published = await redis.run(KEY, (client) => client.hgetall(KEY));
      await membership.beat();
      const dead = Object.keys(published).filter((id) => !membership.isAlive(id));
      if (dead.length > 0) await redis.run(KEY, (client) => client.hdel(KEY, ...dead));
      for (const id of [...dead, this.id]) Reflect.deleteProperty(published, id);
      const others = Object.values(published).flatMap(replicaIn);
      return { own, others: others.sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1)) };
    } catch {
      return { own, others: undefined };
    }
  }

  /** Publishes the state of this process now. */
  async publish(): Promise<void> {
    const text = `${FORMAT} ${JSON.stringify({ id: this.id, snapshot: this.status.snapshot() })}`;
    if (text.length > MAX_LENGTH) return;
    // The next heartbeat retries, and the page says that others are missing while Redis is unavailable.
    await this.redis
      ?.run(KEY, (client) => Promise.all([client.hset(KEY, this.id, text), client.pexpire(KEY, LIFETIME_MS)]))
      .then(() => (this.publishedAt = elapsedMs()))
      .catch(() => undefined);
  }
}

const nameOf = ({ snapshot, id }: ReplicaStatus): string => `${snapshot.processName} ${id}`;

/** Replicas of a version with another format are left out: they have a page of their own. */
function replicaIn(text: string): ReplicaStatus[] {
  if (!text.startsWith(`${FORMAT} `)) return [];
  const { id, snapshot } = JSON.parse(text.slice(FORMAT.length + 1)) as Omit<ReplicaStatus, 'isThisProcess'>;
  return [{ id, isThisProcess: false, snapshot }];
}
