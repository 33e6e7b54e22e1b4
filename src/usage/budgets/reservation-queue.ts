import { Injectable } from '@nestjs/common';
import { AtomicStatements, type Row, type Statement } from '../../platform/database/queries/atomic-statements.js';

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
