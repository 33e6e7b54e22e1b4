import type { RedisConnection } from '../../../../redis/redis-connection.js';
import { StreamLog } from '../../log/stream-log.js';
import type { StreamMemory } from '../../log/stream-memory.js';
import { StreamCipher } from './stream-cipher.js';
import { applyEntry, endLost } from './stream-entry.js';
import type { StreamFollower } from './stream-follower.js';
import { presenceKey, type StreamKeys } from './stream-keys.js';
import { FENCE } from './stream-scripts.js';

const CHECK_EVERY_MS = 500;
/** A replica is dead when its key is missing for this long: it may be about to show itself again after an outage of Redis. */
const DEAD_AFTER_MS = 900;
/** After an outage, the other replicas show themselves in this time. */
const SHOWN_AGAIN_WITHIN_MS = 2_000;
/** A stream that Redis does not know for this long is lost: its owner would have restored it. */
const LOST_AFTER_MS = 4_000;

/** A stream that another replica generates, or has generated. */
export interface RemoteStream {
  readonly accountId: string;
  readonly keys: StreamKeys;
  readonly generation: string;
  readonly secret: Buffer;
  readonly owner: string;
}

interface Mirror extends RemoteStream {
  readonly log: StreamLog;
  readonly unfollow: () => void;
  holds: number;
  /** Since when Redis has not had what is missing in the log. */
  missingSince: number | undefined;
  seenLength: number;
}

/**
 * Follows the streams of other replicas for the readers of this one. All readers of a stream share one log. Ends the streams
 * of a replica that has died.
 */
export class StreamMirrors {
  private readonly mirrors = new Map<string, Mirror>();
  private readonly absentSince = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;
  private isChecking = false;
  private checkedAt = -Infinity;

  constructor(
    private readonly redis: RedisConnection,
    private readonly follower: StreamFollower,
    private readonly memory: StreamMemory,
    private readonly retentionMs: number,
  ) {
    redis.whenUnavailable(() => {
      this.absentSince.clear();
      for (const mirror of this.mirrors.values()) mirror.missingSince = undefined;
    });
  }

  /**
   * Follows a stream until the returned function is called.
   *
   * @throws {ServiceError} `unavailable` when the memory is full.
   */
  hold(stream: RemoteStream): readonly [log: StreamLog, release: () => void] {
    const mirror = this.mirrors.get(stream.keys.text) ?? this.open(stream);
    mirror.holds += 1;
    return [
      mirror.log,
      () => {
        mirror.holds -= 1;
        if (mirror.holds === 0 && !mirror.log.isEvicted) this.close(mirror);
      },
    ];
  }

  stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private open(stream: RemoteStream): Mirror {
    const { accountId, keys, secret, generation } = stream;
    const log = new StreamLog(this.memory, 0, accountId);
    const cipher = new StreamCipher(secret, generation, 'text');
    const unfollow = this.follower.follow(keys.text, (fields) => {
      applyEntry(fields, cipher, log);
    });
    const mirror: Mirror = { ...stream, log, unfollow, holds: 0, missingSince: undefined, seenLength: -1 };
    // The next reader gets a new mirror.
    log.onEvicted = () => {
      this.close(mirror);
    };
    this.mirrors.set(keys.text, mirror);
    this.timer ??= setInterval(() => void this.check(), CHECK_EVERY_MS).unref();
    return mirror;
  }

  private close(mirror: Mirror): void {
    mirror.unfollow();
    mirror.log.release();
    this.mirrors.delete(mirror.keys.text);
    if (this.mirrors.size === 0) this.stop();
  }

  /** Checks whether the replicas live that generate the followed streams. */
  private async check(): Promise<void> {
    if (this.isChecking) return;
    this.isChecking = true;
    try {
      const running = [...this.mirrors.values()].filter(({ log }) => log.ending === undefined);
      const owners = [...new Set(running.map(({ owner }) => owner))];
      const dead = await this.deadOf(owners);
      for (const mirror of running) {
        if (!dead.has(mirror.owner) && mirror.log.hasBegun) continue;
        // If Redis is unavailable or slow, the next round checks again.
        await this.fence(mirror, dead.has(mirror.owner)).catch(() => undefined);
      }
    } finally {
      this.isChecking = false;
    }
  }

  private async deadOf(owners: readonly string[]): Promise<ReadonlySet<string>> {
    const now = performance.now();
    // What was seen before a pause says nothing about the time of the pause.
    if (now - this.checkedAt > 2 * CHECK_EVERY_MS) this.absentSince.clear();
    this.checkedAt = now;
    const isAbsent = await Promise.all(owners.map((owner) => this.isAbsent(presenceKey(owner))));
    const absent = owners.filter((_, index) => isAbsent[index]);
    for (const owner of this.absentSince.keys()) if (!absent.includes(owner)) this.absentSince.delete(owner);
    for (const owner of absent) if (!this.absentSince.has(owner)) this.absentSince.set(owner, now);
    return new Set(absent.filter((owner) => now - (this.absentSince.get(owner) ?? now) >= DEAD_AFTER_MS));
  }

  /** An outage can lose the key, and the other replica may see the end of the outage later. */
  private async isAbsent(key: string): Promise<boolean> {
    if (this.redis.availableForMs(key) < SHOWN_AGAIN_WITHIN_MS) return false;
    return this.redis
      .run(key, (client) => client.exists(key))
      .then(
        (count) => count === 0,
        () => false,
      );
  }

  /** Ends the stream of a dead replica for all readers. Also notices when Redis has lost a stream. */
  private async fence(mirror: Mirror, isDead: boolean): Promise<void> {
    const { keys, generation, log } = mirror;
    const state = await this.redis.run(keys.meta, (client) =>
      isDead
        ? FENCE.run(client, [keys.meta, keys.text], [generation, String(this.retentionMs)])
        : client.hmGet(keys.meta, ['gen', 'state']).then(([found, now]) => (found === generation ? now : 'gone')),
    );
    const now = performance.now();
    // A stream that has ended has text or an ending, unless Redis has lost them.
    const isComplete = state !== 'gone' && state !== 'ended';
    if (isComplete || log.length !== mirror.seenLength) mirror.missingSince = undefined;
    mirror.seenLength = log.length;
    if (isComplete) return;
    mirror.missingSince ??= now;
    if (now - mirror.missingSince >= LOST_AFTER_MS) {
      endLost(log);
    }
  }
}
