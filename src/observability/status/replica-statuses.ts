import { randomUUID } from 'node:crypto';
import { Injectable, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { RedisScript } from '../../redis/redis-script.js';
import { MetricsSources } from '../metrics/metrics-sources.js';
import { ServiceStatus, type StatusSnapshot } from './service-status.js';

/** A hash: the time of Redis and the snapshot of each replica, by the id of the replica. */
const KEY = 'chat:status';
const PUBLISH_EVERY_MS = 10_000;
/** A replica that has published nothing for this long is gone. */
const GONE_AFTER_MS = 30_000;
/** Changes when a snapshot changes so that an earlier version could not show it. */
const FORMAT = '1';
/** A longer snapshot is not published. It has a few hundred bytes for each route, and 6 KB besides. */
const MAX_LENGTH = 256 * 1024;

const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/** ARGV: id of the replica, snapshot. */
const PUBLISH = new RedisScript(`${NOW}
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f ', now) .. ARGV[2])
return redis.call('PEXPIRE', KEYS[1], ${GONE_AFTER_MS})
`);

/** Returns the snapshots, and removes those of replicas that are gone. */
const READ = new RedisScript(`${NOW}
local snapshots = {}
local all = redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
  local space = string.find(all[i + 1], ' ', 1, true)
  if tonumber(string.sub(all[i + 1], 1, space - 1)) < now - ${GONE_AFTER_MS} then redis.call('HDEL', KEYS[1], all[i])
  else snapshots[#snapshots + 1] = string.sub(all[i + 1], space + 1) end
end
return snapshots
`);

/** The state of a replica, as another replica sees it. */
export interface ReplicaStatus {
  readonly id: string;
  readonly isThisProcess: boolean;
  readonly snapshot: StatusSnapshot;
}

/** The states of all replicas. Each replica publishes its own in Redis, every 10 seconds. */
@Injectable()
export class ReplicaStatuses implements OnModuleInit, BeforeApplicationShutdown {
  /** The id of this replica, as long as the process runs. */
  readonly id = randomUUID();
  private timer: NodeJS.Timeout | undefined;
  private hasLeft = false;

  constructor(
    private readonly status: ServiceStatus,
    private readonly sources: MetricsSources,
  ) {}

  onModuleInit(): void {
    this.sources.redis?.whenBack(() => {
      if (this.hasLeft) return;
      this.timer ??= setInterval(() => void this.publish(), PUBLISH_EVERY_MS).unref();
      void this.publish();
    });
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.hasLeft = true;
    clearInterval(this.timer);
    await this.sources.redis?.run(KEY, (client) => client.hDel(KEY, this.id)).catch(() => undefined);
  }

  /**
   * Returns the state of this process, and those of the other replicas by name. `others` is `undefined` while Redis does not
   * answer, and empty without Redis.
   */
  async all(): Promise<{ readonly own: ReplicaStatus; readonly others: readonly ReplicaStatus[] | undefined }> {
    const own = { id: this.id, isThisProcess: true, snapshot: this.status.snapshot() };
    const { redis } = this.sources;
    if (redis === undefined) return { own, others: [] };
    try {
      const found = (await redis.run(KEY, (client) => READ.run(client, [KEY], []))) as string[];
      const others = found.flatMap(replicaIn).filter(({ id }) => id !== this.id);
      return { own, others: others.sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1)) };
    } catch {
      return { own, others: undefined };
    }
  }

  /** Publishes the state of this process now. */
  async publish(): Promise<void> {
    const text = `${FORMAT} ${JSON.stringify({ id: this.id, snapshot: this.status.snapshot() })}`;
    if (text.length > MAX_LENGTH) return;
    // The next one is 10 seconds away, and the page says that others are missing while Redis is unavailable.
    await this.sources.redis?.run(KEY, (client) => PUBLISH.run(client, [KEY], [this.id, text])).catch(() => undefined);
  }
}

const nameOf = ({ snapshot, id }: ReplicaStatus): string => `${snapshot.processName} ${id}`;

/** Replicas of a version with another format are left out: they have a page of their own. */
function replicaIn(text: string): ReplicaStatus[] {
  if (!text.startsWith(`${FORMAT} `)) return [];
  const { id, snapshot } = JSON.parse(text.slice(FORMAT.length + 1)) as Omit<ReplicaStatus, 'isThisProcess'>;
  return [{ id, isThisProcess: false, snapshot }];
}
