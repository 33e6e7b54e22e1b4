import { Inject, Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { queryRows } from '../../platform/database/queries/statements.js';
import { DataSource } from 'typeorm';
import { CLOCK, type Clock } from '../../platform/common/clock.js';
import { RecentMap } from '../../platform/common/recent-map.js';
import { startTimer } from '../../platform/common/timers/pace.js';
import { CONFIG, type Config } from '../../platform/config/config.js';
import { MICROS } from '../../platform/config/limits/budget.js';
import { eventIdOf, type WebhookEvent, WebhookOutbox } from '../../platform/outbox/webhook-outbox.js';
import { UsageLedger } from '../ledger/usage-ledger.js';
import { selectUse, type CurrentBudget } from './budget-statements.js';

/** The part of a budget from which on a warning is due. */
export const WARNING_SHARE = 0.8;
/** Streams that end at about the same time need one query. */
const CHECK_AFTER_MS = 500;
/** Of events that were published, so that they are not written again with each stream, and of refused requests. */
const MAX_REMEMBERED = 10_000;

type BudgetEventType = 'budget.warning' | 'budget.exceeded';

/**
 * Reports budgets to webhooks: once for each period, amount and threshold. What is spent is read from the ledger after the record of
 * a stream is stored. `BudgetChecks` finds what a killed process could not report.
 */
@Injectable()
export class BudgetEvents implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger('BudgetEvents');
  /** The budgets of streams without a stored record, by the id of the record. */
  private readonly open = new Map<string, readonly CurrentBudget[]>();
  /** The budgets to check, by owner and period. */
  private changed = new Map<string, CurrentBudget>();
  /** The least money that a refused request needed, by owner and period. */
  private readonly refusedNeeds = new RecentMap<string, number>(MAX_REMEMBERED);
  private readonly published = new RecentMap<string, true>(MAX_REMEMBERED);
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly outbox: WebhookOutbox,
    private readonly ledger: UsageLedger,
    private readonly database: DataSource,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  onModuleInit(): void {
    this.ledger.listenStored((recordIds) => {
      if (this.open.size > 0) this.stored(recordIds);
    });
  }

  onModuleDestroy(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  /** Whether a webhook wants to know about budgets. */
  get isWanted(): boolean {
    return this.outbox.wants('budget.warning') || this.outbox.wants('budget.exceeded');
  }

  /** A stream has reserved money from the budgets. Called only if {@link isWanted}. */
  started(recordId: string, budgets: readonly CurrentBudget[]): void {
    this.open.set(recordId, budgets);
  }

  /** The stream has not begun, and gets no record. */
  released(recordId: string): void {
    this.open.delete(recordId);
  }

  /**
   * A request was refused. The budget is exceeded when the spent money alone leaves too little for such a request, which running
   * streams may show later. A request that needs more than the whole budget says nothing about what is spent.
   *
   * @param needed in millionths of the currency unit.
   */
  refused(budget: CurrentBudget, needed: number): void {
    if (!this.isWanted || needed > budget.micros) return;
    const name = nameOf(budget);
    const least = Math.min(needed, this.refusedNeeds.get(name, -Infinity) ?? Infinity);
    this.refusedNeeds.set(name, least, this.now());
    this.checkLater(budget);
  }

  /** Publishes the events that are due for a budget, as the ledger says. */
  async check(budget: CurrentBudget): Promise<void> {
    const spent = await this.spentOf(budget);
    const needed = this.refusedNeeds.get(nameOf(budget), -Infinity) ?? 0;
    if (spent >= budget.micros * WARNING_SHARE) await this.publish('budget.warning', budget, spent);
    if (spent >= budget.micros || spent + needed > budget.micros) await this.publish('budget.exceeded', budget, spent);
  }

  private stored(recordIds: readonly string[]): void {
    for (const id of recordIds) {
      for (const budget of this.open.get(id) ?? []) this.checkLater(budget);
      this.open.delete(id);
    }
  }

  private checkLater(budget: CurrentBudget): void {
    this.changed.set(nameOf(budget), budget);
    this.timer ??= startTimer(() => void this.checkChanged(), CHECK_AFTER_MS).unref();
  }

  private async checkChanged(): Promise<void> {
    const budgets = [...this.changed.values()];
    this.changed = new Map();
    this.timer = undefined;
    try {
      for (const budget of budgets) await this.check(budget);
    } catch (error) {
      this.warn(error);
    }
  }

  private async spentOf(budget: CurrentBudget): Promise<number> {
    const { sql, parameters } = selectUse(budget, this.config.currency);
    const [use] = await queryRows<{ spent: number | string }>(this.database, sql, parameters);
    return Number(use?.spent ?? 0);
  }

  private async publish(type: BudgetEventType, budget: CurrentBudget, spent: number): Promise<void> {
    const { accountId, key, micros, per, from, resetsAt } = budget;
    const event: WebhookEvent = {
      type,
      subject: [accountId, key ?? '', per, from, String(micros)],
      accountId,
      keyId: key,
      data: {
        budget: {
          amount: micros / MICROS,
          spent: spent / MICROS,
          currency: this.config.currency,
          per,
          resets_at: new Date(resetsAt).toISOString(),
        },
      },
    };
    const id = eventIdOf(event);
    if (this.published.has(id)) return;
    try {
      await this.outbox.publish(event);
      this.published.set(id, true, this.now());
    } catch (error) {
      this.warn(error);
    }
  }

  private warn(error: unknown): void {
    this.logger.warn({
      msg: 'A budget cannot be reported to webhooks. The service tries again within an hour',
      reason: String(error),
    });
  }
}

function nameOf({ accountId, key, from, micros }: CurrentBudget): string {
  return [accountId, key, from, micros].join(' ');
}
