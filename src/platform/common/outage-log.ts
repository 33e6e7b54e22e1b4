import { Logger } from '@nestjs/common';
import { elapsedMs } from './timers/pace.js';

const REPEAT_MS = 60_000;

/**
 * Logs an outage of a store: one line when the store becomes unavailable, one line a minute while it stays unavailable, and
 * one line when it is available again. What checks the store reports each failed check, so the log needs no timer.
 */
export class OutageLog {
  private readonly logger: Logger;
  /** When the outage began. */
  private since: number | undefined;
  private loggedAt = 0;

  /**
   * @param store the name of the store, such as `Redis`.
   * @param consequence what the service does until the store is available again.
   */
  constructor(
    private readonly store: string,
    private readonly consequence: string,
  ) {
    this.logger = new Logger(store);
  }

  /** Whether the log has reported an outage, and not its end. */
  get isOpen(): boolean {
    return this.since !== undefined;
  }

  /** Call this after each failed check of the store. */
  unavailable(reason: string): void {
    const now = elapsedMs();
    if (this.since !== undefined && now - this.loggedAt < REPEAT_MS) return;
    this.loggedAt = now;
    if (this.since === undefined) {
      this.since = now;
      this.logger.warn(`${this.store} is unavailable (${reason}): ${this.consequence}`);
    } else {
      this.logger.warn(`${this.store} has been unavailable for ${secondsSince(this.since)} s`);
    }
  }

  back(): void {
    if (this.since === undefined) return;
    this.logger.log(`${this.store} is back after ${secondsSince(this.since)} s`);
    this.since = undefined;
  }
}

function secondsSince(time: number): number {
  return Math.round((elapsedMs() - time) / 1000);
}
