import { randomUUID } from 'node:crypto';
import type { RedisConnection } from '../../../../redis/redis-connection.js';
import { presenceKey } from './stream-keys.js';

const BEAT_MS = 500;
/** A replica counts as dead some time after this. Redis measures the time, because the clocks of replicas differ. */
const LIFETIME_MS = 3_000;

/** Shows the other replicas that this one lives, while it generates durable streams. */
export class ReplicaPresence {
  /** Different at each start of the process. */
  readonly id = randomUUID();
  private timer: NodeJS.Timeout | undefined;
  private shownAt = -Infinity;

  /**
   * @param onLost called when Redis has lost the key of this process, and so perhaps everything else.
   * @param onBeat called every half second while the presence is shown.
   */
  constructor(
    private readonly redis: RedisConnection,
    private readonly onLost: () => void,
    private readonly onBeat: () => void,
  ) {
    redis.whenBack(() => {
      if (this.timer !== undefined) void this.beat().catch(() => undefined);
    });
  }

  /**
   * Shows the presence from now on. Resolves when other replicas can see it.
   *
   * @throws {RedisUnavailable | RedisTimeout} when Redis does not answer.
   */
  async show(): Promise<void> {
    this.timer ??= setInterval(() => {
      this.beat().catch(() => undefined);
      this.onBeat();
    }, BEAT_MS).unref();
    if (performance.now() - this.shownAt > LIFETIME_MS / 2) await this.beat();
  }

  /** Shows nothing more. The key expires by itself. */
  hide(): void {
    clearInterval(this.timer);
    this.timer = undefined;
    this.shownAt = -Infinity;
  }

  private async beat(): Promise<void> {
    const { timer } = this;
    const startedAt = performance.now();
    const key = presenceKey(this.id);
    const before = await this.redis.run(key, (client) =>
      client.set(key, '1', { GET: true, expiration: { type: 'PX', value: LIFETIME_MS } }),
    );
    // It has been hidden since then.
    if (this.timer !== timer) return;
    const wasShown = this.shownAt !== -Infinity;
    this.shownAt = startedAt;
    if (wasShown && before === null) this.onLost();
  }
}
