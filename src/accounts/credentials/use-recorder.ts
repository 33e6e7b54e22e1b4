import { setImmediate as nextTurn } from 'node:timers/promises';
import type { BeforeApplicationShutdown } from '@nestjs/common';
import type { Repository } from 'typeorm';
import type { QueryDeepPartialEntity } from 'typeorm/query-builder/QueryPartialEntity.js';
import type { Clock } from '../../common/clock.js';
import { inChunks } from '../../database/queries/in-chunks.js';

const TICK_MS = 1000;
/** A credential in use is written this often. */
const REWRITE_AFTER_MS = 60_000;
const IDS_PER_STATEMENT = 200;
/** Of those in use within a minute. The uses of more than these are not recorded until others are written. */
const MAX_IDS = 100_000;

/** Keeps the moment of last use of credentials, at the cost of one statement for many requests. */
export abstract class UseRecorder<E extends { readonly id: string }> implements BeforeApplicationShutdown {
  /** Uses that are not written yet: id to its last use. */
  private readonly unwritten = new Map<string, number>();
  /** When an id was written, for those within the last minute. */
  private readonly writtenAt = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> | undefined;

  /** @param lastUse the property that keeps the moment, a `TimestampColumn`. */
  constructor(
    private readonly repository: Repository<E>,
    private readonly lastUse: keyof E & string,
    private readonly now: Clock,
  ) {}

  /** Notes that it is used now. The first use is written within a second, later ones once a minute. */
  touch(id: string): void {
    if (this.unwritten.size >= MAX_IDS && !this.unwritten.has(id)) return;
    this.unwritten.set(id, this.now());
    this.timer ??= setInterval(() => void this.tick(), TICK_MS).unref();
  }

  /** Writes whatever is not written yet. */
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
    this.forgetOldWrites();
    await this.write([...this.unwritten.keys()].filter((id) => !this.writtenAt.has(id)));
  }

  private stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private forgetOldWrites(): void {
    const before = this.now() - REWRITE_AFTER_MS;
    for (const [id, writtenAt] of this.writtenAt) {
      if (writtenAt <= before) this.writtenAt.delete(id);
    }
  }

  private async write(ids: readonly string[]): Promise<void> {
    this.writing = this.writeChunks(ids);
    await this.writing;
    this.writing = undefined;
    if (this.unwritten.size === 0) this.stop();
  }

  private async writeChunks(ids: readonly string[]): Promise<void> {
    for (const [index, chunk] of [...inChunks(ids, IDS_PER_STATEMENT)].entries()) {
      // An embedded database answers without letting anybody else run.
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
      // They stay unwritten; the next tick tries again.
      return;
    }
    for (const [id, usedAt] of uses) {
      this.writtenAt.set(id, this.now());
      if (this.unwritten.get(id) === usedAt) this.unwritten.delete(id);
    }
  }

  /** Each gets a moment of its own, and none goes back: another replica may have written a later one. */
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
