import { randomUUID } from 'node:crypto';
import type { RedisConnection } from '../../../../redis/redis-connection.js';
import { ServiceError } from '../../../../common/service-error.js';
import { MAX_READERS, once, tooManyReaders } from '../stream-store.js';
import { orUnavailable } from './redis-availability.js';
import type { StreamKeys } from './stream-keys.js';
import { ENTER, RENEW_READERS } from './stream-scripts.js';

/** Several times in the life of a slot, so that a renewal may fail. */
const RENEW_EVERY_MS = 3_000;

/** The readers of this process, with their slots among the readers of all replicas. */
export class ReaderSlots {
  private readonly taken = new Map<string, Set<string>>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly redis: RedisConnection) {}

  newId(): string {
    return randomUUID();
  }

  /**
   * Takes a slot for a reader.
   *
   * @returns a function that releases the slot.
   * @throws {ServiceError} `concurrency_limit_exceeded`, `not_found` when Redis has no such stream, or `unavailable`.
   */
  async enter({ meta, readers }: StreamKeys, generation: string): Promise<() => void> {
    const id = this.newId();
    const args = [generation, id, String(MAX_READERS)];
    const entered = await orUnavailable(this.redis.run(meta, (client) => ENTER.run(client, [meta, readers], args)));
    if (entered === 0) throw tooManyReaders();
    if (entered === -1) throw new ServiceError('not_found', 'There is no such stream, or it is not kept any longer.');
    return this.hold(readers, id);
  }

  /** Renews a slot that Redis has given already. */
  hold(readersKey: string, id: string): () => void {
    const ids = this.taken.get(readersKey) ?? new Set();
    this.taken.set(readersKey, ids.add(id));
    this.timer ??= setInterval(() => void this.renew(), RENEW_EVERY_MS).unref();
    return once(() => {
      ids.delete(id);
      if (ids.size === 0) this.taken.delete(readersKey);
      if (this.taken.size === 0) this.stop();
      this.redis.runWithoutTimeout(readersKey, (client) => client.zRem(readersKey, id)).catch(() => undefined);
    });
  }

  /** Returns the number of readers on all replicas, or 1 when Redis does not answer. */
  async count(readersKey: string): Promise<number> {
    const here = this.taken.get(readersKey)?.size ?? 0;
    if (here > 0) return here;
    return this.redis
      .run(readersKey, (client) => RENEW_READERS.run(client, [readersKey], []))
      .then(Number)
      .catch(() => 1);
  }

  stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private async renew(): Promise<void> {
    const renewals = [...this.taken].map(([key, ids]) =>
      this.redis.run(key, (client) => RENEW_READERS.run(client, [key], [...ids])),
    );
    // When Redis is unavailable, the next round renews the slots.
    await Promise.allSettled(renewals);
  }
}
