import { Logger } from '@nestjs/common';

const REPEAT_MS = 60_000;

/**
 * Logs an outage of a store: one line when the store becomes unavailable, one line a minute while it stays unavailable, and
 * one line when it is available again.
 */
export class OutageLog {
  private readonly logger: Logger;
  /** When the outage began. */
  private since: number | undefined;
  private timer: NodeJS.Timeout | undefined;

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

  unavailable(reason: string): void {
    if (this.since !== undefined) return;
    const since = (this.since = performance.now());
    this.logger.warn(`${this.store} is unavailable (${reason}): ${this.consequence}`);
    this.timer = setInterval(() => {
      this.logger.warn(`${this.store} has been unavailable for ${Math.round((performance.now() - since) / 1000)} s`);
    }, REPEAT_MS).unref();
  }

  back(): void {
    if (this.since === undefined) return;
    this.logger.log(`${this.store} is back after ${Math.round((performance.now() - this.since) / 1000)} s`);
    this.end();
  }

  end(): void {
    clearInterval(this.timer);
    this.since = undefined;
  }
}
