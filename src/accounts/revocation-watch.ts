import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, IsNull, MoreThan, Repository } from 'typeorm';
import { CLOCK, type Clock } from '../common/clock.js';
import { ApiKey } from './api-key.entity.js';
import { inChunks } from './in-chunks.js';

const POLL_MS = 1000;
const KEYS_PER_QUERY = 500;

type Listener = () => void;

/**
 * Tells whoever works for a key that the key is no longer valid, whichever process ended it. Asks the database once a
 * second, for the watched keys only, and not at all while none is watched.
 */
@Injectable()
export class RevocationWatch implements OnModuleDestroy {
  private readonly listeners = new Map<string, Set<Listener>>();
  private timer: NodeJS.Timeout | undefined;
  private polling = false;

  constructor(
    @InjectRepository(ApiKey) private readonly keys: Repository<ApiKey>,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /**
   * @param onRevoked called once, when the key is revoked, expires or is deleted. Must not throw.
   * @returns ends the watch.
   * @example const unwatch = watch.watch(key.keyId, () => controller.abort(new ServiceError('key_revoked', '…')));
   */
  watch(keyId: string, onRevoked: Listener): () => void {
    // The same function may be given twice, for two streams.
    const listener: Listener = () => {
      onRevoked();
    };
    const ofKey = this.listeners.get(keyId) ?? new Set();
    this.listeners.set(keyId, ofKey.add(listener));
    this.timer ??= setInterval(() => void this.poll(), POLL_MS).unref();
    return () => {
      if (ofKey.delete(listener) && ofKey.size === 0 && this.listeners.get(keyId) === ofKey) this.drop(keyId);
    };
  }

  /** Says that a key was ended in this process. */
  tell(keyId: string): void {
    const ofKey = this.listeners.get(keyId);
    if (ofKey === undefined) return;
    this.drop(keyId);
    for (const listener of ofKey) listener();
  }

  onModuleDestroy(): void {
    this.listeners.clear();
    this.stop();
  }

  private drop(keyId: string): void {
    this.listeners.delete(keyId);
    if (this.listeners.size === 0) this.stop();
  }

  private stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private async poll(): Promise<void> {
    if (this.polling) return;
    this.polling = true;
    try {
      for (const keyIds of inChunks([...this.listeners.keys()], KEYS_PER_QUERY)) {
        const valid = await this.validOf(keyIds);
        for (const keyId of keyIds) if (valid?.has(keyId) === false) this.tell(keyId);
      }
    } finally {
      this.polling = false;
    }
  }

  /** Those that are valid still, or `undefined` when the database does not say: the next poll will. */
  private async validOf(keyIds: readonly string[]): Promise<ReadonlySet<string> | undefined> {
    const unrevoked = { id: In(keyIds), revokedAt: IsNull() };
    const now = new Date(this.now());
    try {
      const keys = await this.keys.find({
        select: { id: true },
        where: [
          { ...unrevoked, expiresAt: IsNull() },
          { ...unrevoked, expiresAt: MoreThan(now) },
        ],
      });
      return new Set(keys.map(({ id }) => id));
    } catch {
      return undefined;
    }
  }
}
