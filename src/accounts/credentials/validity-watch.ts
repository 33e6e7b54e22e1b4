import type { OnModuleDestroy } from '@nestjs/common';
import { RecentMap } from '../../common/recent-map.js';
import { Registry } from '../../common/registry.js';
import { inChunks } from '../../common/in-chunks.js';

const POLL_MS = 1000;
const IDS_PER_QUERY = 500;
const MAX_ENDED = 10_000;

type Listener = () => void;

/**
 * Notifies listeners when a credential is no longer valid, regardless of which process ended it. Queries the database once
 * a second for the watched credentials. Sends no queries while no credential is watched.
 */
export abstract class ValidityWatch implements OnModuleDestroy {
  private readonly listeners = new Map<string, Registry<Listener>>();
  private readonly ended = new RecentMap<string, true>(MAX_ENDED);
  private timer: NodeJS.Timeout | undefined;
  private polling = false;

  /** Returns the ids that are valid now. */
  protected abstract validOf(ids: readonly string[]): Promise<ReadonlySet<string>>;

  /**
   * Watches a credential.
   *
   * @param onEnded called once, when the credential is revoked, expires or is deleted. Must not throw. Always called after
   * this method has returned, also for a credential that has ended already.
   * @returns a function that ends the watch.
   * @example const unwatch = watch.watch(key.keyId, () => controller.abort(new ServiceError('key_revoked', '…')));
   */
  watch(id: string, onEnded: Listener): () => void {
    const watching = this.listeners.get(id) ?? this.begin(id);
    const remove = watching.add(onEnded);
    this.timer ??= setInterval(() => void this.poll(), POLL_MS).unref();
    // The credential has ended between its check and this watch.
    if (this.hasEnded(id)) {
      queueMicrotask(() => {
        this.notify(id);
      });
    }
    return () => {
      if (remove() && watching.size === 0 && this.listeners.get(id) === watching) this.drop(id);
    };
  }

  private begin(id: string): Registry<Listener> {
    const watching = new Registry<Listener>();
    this.listeners.set(id, watching);
    return watching;
  }

  /** Marks a credential as ended and notifies its listeners. Called when this process ends a credential. */
  notify(id: string): void {
    this.ended.set(id, true, performance.now());
    const watching = this.listeners.get(id);
    if (watching === undefined) return;
    this.drop(id);
    watching.forEach((listener) => {
      listener();
    });
  }

  /** Whether this process knows that the credential has ended, and {@link confirm} was not called since then. */
  hasEnded(id: string): boolean {
    return this.ended.has(id);
  }

  /**
   * Removes the mark of a credential that the database calls valid. An ended credential becomes valid again if its account is
   * enabled.
   *
   * @param queriedAt the time before the query, by `performance.now()`. A credential that has ended since then stays ended.
   */
  confirm(id: string, queriedAt: number): void {
    if (this.ended.has(id) && this.ended.get(id, queriedAt) === undefined) this.ended.delete(id);
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
        const valid = await this.queryValidity(ids);
        for (const id of ids) if (valid?.has(id) === false) this.notify(id);
      }
    } finally {
      this.polling = false;
    }
  }

  private async queryValidity(ids: readonly string[]): Promise<ReadonlySet<string> | undefined> {
    try {
      return await this.validOf(ids);
    } catch {
      // The database did not answer. The next poll retries.
      return undefined;
    }
  }
}
