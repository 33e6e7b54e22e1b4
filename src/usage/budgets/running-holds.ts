import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CLOCK, type Clock } from '../../common/clock.js';
import { CONFIG, type Config } from '../../config/config.js';
import { inChunks } from '../../common/in-chunks.js';
import { queryRows } from '../../database/queries/statements.js';
import { insertHold, type BudgetHold } from './budget-statements.js';
import type { CurrentBudget } from './current-budget.js';
import { HoldQueue } from './hold-queue.js';

const RENEW_EVERY_MS = 60_000;
/** A hold that was not renewed for this long belongs to no running stream. The ledger removes all other holds by itself. */
const EXPIRES_AFTER_MS = 15 * 60_000;
const IDS_PER_STATEMENT = 200;

/** Takes the holds of the streams that run in this process, and renews them, so that those of a killed process expire. */
@Injectable()
export class RunningHolds {
  private readonly ids = new Set<string>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly database: DataSource,
    private readonly queue: HoldQueue,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /**
   * Writes the hold, if all budgets have enough left.
   *
   * @returns whether the hold was written.
   */
  async take(hold: BudgetHold, budgets: readonly CurrentBudget[]): Promise<boolean> {
    const now = this.now();
    const { currency } = this.config;
    const statement = insertHold(hold, budgets, currency, new Date(now).toISOString(), this.expiredAt(now));
    const isTaken = (await this.queue.run(hold.accountId, statement)).length === 1;
    if (isTaken) this.add(hold.id);
    return isTaken;
  }

  remove(id: string): void {
    this.ids.delete(id);
    if (this.ids.size === 0) this.stop();
  }

  /** Returns the time, in ISO 8601, up to which a hold without a renewal has expired. */
  expiredAt(now: number): string {
    return new Date(now - EXPIRES_AFTER_MS).toISOString();
  }

  stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private add(id: string): void {
    this.ids.add(id);
    this.timer ??= setInterval(() => void this.renew(), RENEW_EVERY_MS).unref();
  }

  private async renew(): Promise<void> {
    const now = this.now();
    try {
      for (const ids of inChunks([...this.ids], IDS_PER_STATEMENT)) {
        const sql = 'UPDATE budget_holds SET renewed_at = :now WHERE id IN (:ids)';
        await queryRows(this.database, sql, { now: new Date(now).toISOString(), ids });
      }
      const sql = 'DELETE FROM budget_holds WHERE renewed_at <= :expired';
      await queryRows(this.database, sql, { expired: this.expiredAt(now) });
    } catch {
      // The next round retries. A hold outlives several rounds.
    }
  }
}
