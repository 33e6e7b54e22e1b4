import { Inject, Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { CLOCK, type Clock } from '../common/clock.js';
import { ApiKey } from './api-key.entity.js';
import { inChunks } from './in-chunks.js';

const TICK_MS = 1000;
/** A key in use is written this often. */
const REWRITE_AFTER_MS = 60_000;
const KEYS_PER_STATEMENT = 200;
/** Of keys in use within a minute. The uses of more than these are not recorded until others are written. */
const MAX_KEYS = 100_000;

/** Keeps `lastUsedAt` of keys, at the cost of one statement for many requests. */
@Injectable()
export class LastUsedRecorder implements BeforeApplicationShutdown {
  /** Uses that are not written yet: key id to its last use. */
  private readonly unwritten = new Map<string, number>();
  /** When a key was written, for those within the last minute. */
  private readonly writtenAt = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> | undefined;

  constructor(
    @InjectRepository(ApiKey) private readonly keys: Repository<ApiKey>,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /** Notes that the key is used now. The first use is written within a second, later ones once a minute. */
  touch(keyId: string): void {
    if (this.unwritten.size >= MAX_KEYS && !this.unwritten.has(keyId)) return;
    this.unwritten.set(keyId, this.now());
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
    await this.write([...this.unwritten.keys()].filter((keyId) => !this.writtenAt.has(keyId)));
  }

  private stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private forgetOldWrites(): void {
    const before = this.now() - REWRITE_AFTER_MS;
    for (const [keyId, writtenAt] of this.writtenAt) {
      if (writtenAt <= before) this.writtenAt.delete(keyId);
    }
  }

  private async write(keyIds: readonly string[]): Promise<void> {
    this.writing = this.writeChunks(keyIds);
    await this.writing;
    this.writing = undefined;
    if (this.unwritten.size === 0) this.stop();
  }

  private async writeChunks(keyIds: readonly string[]): Promise<void> {
    for (const chunk of inChunks(keyIds, KEYS_PER_STATEMENT)) await this.writeChunk(chunk);
  }

  private async writeChunk(keyIds: readonly string[]): Promise<void> {
    const uses = keyIds.flatMap((keyId): [string, number][] => {
      const usedAt = this.unwritten.get(keyId);
      return usedAt === undefined ? [] : [[keyId, usedAt]];
    });
    if (uses.length === 0) return;
    try {
      await this.update(uses);
    } catch {
      // They stay unwritten; the next tick tries again.
      return;
    }
    for (const [keyId, usedAt] of uses) {
      this.writtenAt.set(keyId, this.now());
      if (this.unwritten.get(keyId) === usedAt) this.unwritten.delete(keyId);
    }
  }

  /** Every key gets a moment of its own, and none goes back: another replica may have written a later one. */
  private async update(uses: readonly [keyId: string, usedAt: number][]): Promise<void> {
    const cases = uses.map(
      (_, n) => `WHEN id = :id${n} AND (last_used_at IS NULL OR last_used_at < :at${n}) THEN :at${n}`,
    );
    const parameters = uses.flatMap(([keyId, usedAt], n) => [
      [`id${n}`, keyId],
      [`at${n}`, new Date(usedAt).toISOString()],
    ]);
    await this.keys
      .createQueryBuilder()
      .update()
      .set({ lastUsedAt: () => `CASE ${cases.join(' ')} ELSE last_used_at END` })
      .where('id IN (:...ids)', { ids: uses.map(([keyId]) => keyId) })
      .setParameters(Object.fromEntries(parameters) as Record<string, string>)
      .execute();
  }
}
