import { setImmediate as nextTurn } from 'node:timers/promises';
import type { BeforeApplicationShutdown } from '@nestjs/common';
import type { Repository } from 'typeorm';
import type { QueryDeepPartialEntity } from 'typeorm/query-builder/QueryPartialEntity.js';
import type { Clock } from '../../platform/common/clock.js';
import { RecentMap } from '../../platform/common/recent-map.js';
import { inChunks } from '../../platform/common/in-chunks.js';
import { startInterval } from '../../platform/common/timers/pace.js';

const TICK_MS = 1000;
/** The last use of a credential is written at most this often. */
const REWRITE_AFTER_MS = 60_000;
const IDS_PER_STATEMENT = 200;
/** The most credentials with unwritten uses. Uses of further credentials are not recorded until others are written. */
const MAX_IDS = 100_000;

/** Records when each credential was last used. One SQL statement covers many requests. */
export abstract class UseRecorder<E extends { readonly id: string }> implements BeforeApplicationShutdown {
  /** Uses that are not written yet: the time of the last use by id, in milliseconds. */
  private readonly unwritten = new Map<string, number>();
  /** The latest writes. A credential that is no longer among them is written again early. */
  private readonly written = new RecentMap<string, true>(MAX_IDS);
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> | undefined;

  /** @param lastUse the property that stores the time of the last use, a `TimestampColumn`. */
  constructor(
    private readonly repository: Repository<E>,
    private readonly lastUse: keyof E & string,
    private readonly now: Clock,
  ) {}

  /** Records that the credential is used now. The first use is written within a second, later uses once a minute. */
  touch(id: string): void {
    if (this.unwritten.size >= MAX_IDS && !this.unwritten.has(id)) return;
    this.unwritten.set(id, this.now());
    this.timer ??= startInterval(() => void this.tick(), TICK_MS);
  }

  /** Writes all uses that are not written yet. */
  async flush(): Promise<void> {
    await this.writing;
    await this.write([...this.unwritten.keys()]);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.flush();
    this.stop();
  }

  private async tick(): Promise<void> {
    if (this.writing !== undefined) return;
    const before = this.now() - REWRITE_AFTER_MS;
    await this.write([...this.unwritten.keys()].filter((id) => this.written.get(id, before) === undefined));
  }

  private stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private async write(ids: readonly string[]): Promise<void> {
    this.writing = this.writeChunks(ids);
    await this.writing;
    this.writing = undefined;
    if (this.unwritten.size === 0) this.stop();
  }

  private async writeChunks(ids: readonly string[]): Promise<void> {
    for (const [index, chunk] of [...inChunks(ids, IDS_PER_STATEMENT)].entries()) {
      // An embedded database answers without yielding to the event loop, so other work gets a turn here.
      if (index > 0) await nextTurn();
      await this.writeChunk(chunk);
    }
  }

  private async writeChunk(ids: readonly string[]): Promise<void> {
    const uses = ids.flatMap((id): [string, number][] => {
      const usedAt = this.unwritten.get(id);
      return usedAt === undefined ? [] : [[id, usedAt]];
    });
    if (uses.length === 0) return;
    try {
      await this.update(uses);
    } catch {
      // The uses stay unwritten. The next tick retries.
      return;
    }
    for (const [id, usedAt] of uses) {
      this.written.set(id, true, this.now());
      if (this.unwritten.get(id) === usedAt) this.unwritten.delete(id);
    }
  }

  /** Writes the time of each use. Keeps a later time, because another replica may have written it. */
  private async update(uses: readonly [id: string, usedAt: number][]): Promise<void> {
    const column = this.repository.metadata.findColumnWithPropertyName(this.lastUse)?.databaseName ?? this.lastUse;
    const cases = uses.map((_, n) => `WHEN id = :id${n} AND (${column} IS NULL OR ${column} < :at${n}) THEN :at${n}`);
    const parameters = uses.flatMap(([id, usedAt], n) => [
      [`id${n}`, id],
      [`at${n}`, new Date(usedAt).toISOString()],
    ]);
    const change = { [this.lastUse]: () => `CASE ${cases.join(' ')} ELSE ${column} END` };
    await this.repository
      .createQueryBuilder()
      .update()
      .set(change as QueryDeepPartialEntity<E>)
      .where('id IN (:...ids)', { ids: uses.map(([id]) => id) })
      .setParameters(Object.fromEntries(parameters) as Record<string, string>)
      .execute();
  }
}
