import type { OnModuleDestroy } from '@nestjs/common';
import { inChunks } from '../../database/queries/in-chunks.js';
import { RecentMap } from './recent-map.js';

const POLL_MS = 1000;
const IDS_PER_QUERY = 500;
const MAX_ENDED = 10_000;

type Listener = () => void;

/**
 * Tells whoever works for a credential that it is no longer valid, whichever process ended it. Asks the database once a
 * second, for the watched ones only, and not at all while none is watched.
 */
export abstract class ValidityWatch implements OnModuleDestroy {
  private readonly listeners = new Map<string, Set<Listener>>();
  private readonly ended = new RecentMap<string, true>(MAX_ENDED);
  private timer: NodeJS.Timeout | undefined;
  private polling = false;

  /** Those that are valid now. */
  protected abstract validOf(ids: readonly string[]): Promise<ReadonlySet<string>>;

  /**
   * @param onEnded called once, when the credential is ended, expires or is deleted. Must not throw. Not called before this
   * method has returned, also for a credential that has ended already.
   * @returns ends the watch.
   * @example const unwatch = watch.watch(key.keyId, () => controller.abort(new ServiceError('key_revoked', '…')));
   */
  watch(id: string, onEnded: Listener): () => void {
    // The same function may be given twice, for two streams.
    const listener: Listener = () => {
      onEnded();
    };
    const watching = this.listeners.get(id) ?? new Set();
    this.listeners.set(id, watching.add(listener));
    this.timer ??= setInterval(() => void this.poll(), POLL_MS).unref();
    // It was ended between the check of the credential and this watch.
    if (this.hasEnded(id)) {
      queueMicrotask(() => {
        this.tell(id);
      });
    }
    return () => {
      if (watching.delete(listener) && watching.size === 0 && this.listeners.get(id) === watching) this.drop(id);
    };
  }

  /** Says that a credential was ended in this process. */
  tell(id: string): void {
    this.ended.set(id, true, 0);
    const watching = this.listeners.get(id);
    if (watching === undefined) return;
    this.drop(id);
    for (const listener of watching) listener();
  }

  /** Whether its end is known here. Nothing that has ended begins again. */
  hasEnded(id: string): boolean {
    return this.ended.get(id, -1) === true;
  }

  onModuleDestroy(): void {
    this.listeners.clear();
    this.stop();
  }

  private drop(id: string): void {
    this.listeners.delete(id);
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
      for (const ids of inChunks([...this.listeners.keys()], IDS_PER_QUERY)) {
        const valid = await this.askAbout(ids);
        for (const id of ids) if (valid?.has(id) === false) this.tell(id);
      }
    } finally {
      this.polling = false;
    }
  }

  private async askAbout(ids: readonly string[]): Promise<ReadonlySet<string> | undefined> {
    try {
      return await this.validOf(ids);
    } catch {
      // The database does not say: the next poll will.
      return undefined;
    }
  }
}
