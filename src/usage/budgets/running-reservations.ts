import { Injectable, Inject } from '@nestjs/common';
import { CONFIG, type Config } from '../../platform/config/config.js';
import { AtomicStatements, type Row, type Statement } from '../../platform/database/queries/atomic-statements.js';
import { UsageWriters } from '../store/usage-writers.js';
import {
  deleteReservation,
  insertReservation,
  type BudgetReservation,
  type CurrentBudget,
} from './budget-statements.js';

interface Waiting {
  readonly statement: Statement;
  readonly resolve: (rows: readonly Row[]) => void;
  readonly reject: (error: unknown) => void;
}

const MAX_STATEMENTS = 50;

/**
 * Runs the statements about the budgets of an account in the order of the calls. Statements that arrive while others run share the
 * next transaction, so that many requests at once need few round trips.
 */
@Injectable()
export class ReservationQueue {
  private readonly waiting = new Map<string, Waiting[]>();

  constructor(private readonly database: AtomicStatements) {}

  /** @returns the rows of the statement. */
  run(accountId: string, statement: Statement): Promise<readonly Row[]> {
    return new Promise((resolve, reject) => {
      const item = { statement, resolve, reject };
      const queue = this.waiting.get(accountId);
      if (queue !== undefined) {
        queue.push(item);
        return;
      }
      const started = [item];
      this.waiting.set(accountId, started);
      void this.drain(accountId, started);
    });
  }

  private async drain(accountId: string, queue: Waiting[]): Promise<void> {
    while (queue.length > 0) {
      const some = queue.splice(0, MAX_STATEMENTS);
      const statements = some.map(({ statement }) => statement);
      try {
        const results = await this.database.run({ table: 'accounts', id: accountId }, statements);
        for (const [index, { resolve }] of some.entries()) resolve(results[index] ?? []);
      } catch (error) {
        for (const { reject } of some) reject(error);
      }
    }
    this.waiting.delete(accountId);
  }
}

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
