import type { Logger } from '@nestjs/common';
import { Rounds } from './rounds.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** Between two portions. */
const PAUSE_MS = 50;
/** The number of rows of a portion. Small, because SQLite blocks the event loop while it deletes. */
export const ROWS_PER_DELETION = 500;

/** Deletes old rows again and again, in small portions. Several replicas may delete at the same time. */
export class Retention {
  private readonly rounds = new Rounds(() => this.run());

  /**
   * @param rows the name of the rows, for the log.
   * @param deletePortion deletes a portion, and returns whether there may be more old rows.
   * @param everyMs the time from the last portion to the next check for old rows. By default an hour.
   */
  constructor(
    private readonly rows: string,
    private readonly deletePortion: () => Promise<boolean>,
    private readonly logger: Logger,
    private readonly everyMs = HOUR_MS,
  ) {}

  /** Deletes for the first time after this time. */
  start(delayMs: number): void {
    this.rounds.start(delayMs);
  }

  /** Resolves when the portion that is being deleted is done. */
  stop(): Promise<void> {
    return this.rounds.stop();
  }

  private async run(): Promise<number> {
    try {
      return (await this.deletePortion()) ? PAUSE_MS : this.everyMs;
    } catch (error) {
      this.logger.warn({
        msg: `Old ${this.rows} cannot be deleted. The service tries again in ${this.everyMs / MINUTE_MS} minutes`,
        reason: String(error),
      });
      return this.everyMs;
    }
  }
}
