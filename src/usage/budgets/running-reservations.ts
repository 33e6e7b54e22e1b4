import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../../platform/config/config.js';
import type { Statement } from '../../platform/database/queries/atomic-statements.js';
import { UsageWriters } from '../store/usage-writers.js';
import {
  deleteReservation,
  insertReservation,
  type BudgetReservation,
  type CurrentBudget,
} from './budget-statements.js';
import { ReservationQueue } from './spend-budgets.js';

/** Above this number, the oldest reservation is left until the process ends. */
const MAX_FAILED = 10_000;

/**
 * Takes the reservations of the streams that run in this process, and ends them. An end that the database could not store is repeated. The
 * reservations name the process, so that those of a killed process are removed together.
 */
@Injectable()
export class RunningReservations {
  /** The number of statements that end reservations and run now. */
  private ending = 0;
  /** The ends of reservations that the database has not stored, by the id of the reservation. */
  private readonly failed = new Map<string, { readonly accountId: string; readonly statement: Statement }>();

  constructor(
    private readonly queue: ReservationQueue,
    private readonly writers: UsageWriters,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** Whether the database has stored the ends of all reservations. */
  get isSettled(): boolean {
    return this.ending === 0 && this.failed.size === 0;
  }

  /**
   * Writes the reservation, if all budgets have enough left.
   *
   * @returns whether the reservation was written.
   */
  async take(reservation: BudgetReservation, budgets: readonly CurrentBudget[]): Promise<boolean> {
    const statement = insertReservation(reservation, budgets, this.config.currency, this.writers.id);
    return (await this.queue.run(reservation.accountId, statement)).length === 1;
  }

  /** Writes the reservation of one stream as {@link take} does. If the result is unknown, the reservation is deleted. */
  async takeOnce(reservation: BudgetReservation, budgets: readonly CurrentBudget[]): Promise<boolean> {
    try {
      return await this.take(reservation, budgets);
    } catch (error) {
      this.end(reservation.accountId, reservation.id, deleteReservation(reservation.id));
      throw error;
    }
  }

  /** Runs the statement that ends a reservation. If the database does not store the end, {@link retry} repeats it. */
  end(accountId: string, id: string, statement: Statement): void {
    this.ending += 1;
    this.queue
      .run(accountId, statement)
      .catch(() => {
        this.failed.set(id, { accountId, statement });
        if (this.failed.size > MAX_FAILED) this.failed.delete(this.failed.keys().next().value ?? '');
      })
      .finally(() => (this.ending -= 1));
  }

  /** Repeats the ends that have failed. */
  retry(): void {
    const all = [...this.failed];
    this.failed.clear();
    for (const [id, { accountId, statement }] of all) this.end(accountId, id, statement);
  }
}
