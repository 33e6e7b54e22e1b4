import type { Logger } from '@nestjs/common';

const HOUR_MS = 3_600_000;

/**
 * Runs a task in rounds. The next round begins some time after the end of the round before it. The timers do not keep the process
 * alive.
 */
export class Rounds {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private isStopped = false;

  /** @param round returns the time until the next round, in milliseconds. It must not reject. */
  constructor(private readonly round: () => Promise<number>) {}

  /** Begins a round after this time. Does nothing after {@link stop}. */
  start(delayMs: number): void {
    if (this.isStopped) return;
    this.timer = setTimeout(() => {
      this.running = this.run();
    }, delayMs).unref();
  }

  /** Begins no more rounds. Resolves when the running round has ended. */
  async stop(): Promise<void> {
    this.isStopped = true;
    clearTimeout(this.timer);
    await this.running;
  }

  private async run(): Promise<void> {
    this.start(await this.round());
  }
}

/**
 * Runs a task once an hour.
 *
 * @param failure the message of the log when the task fails. The next round tries again.
 */
export function hourly(task: () => Promise<void>, logger: Logger, failure: string): Rounds {
  return new Rounds(async () => {
    await task().catch((error: unknown) => {
      logger.warn({ msg: failure, reason: String(error) });
    });
    return HOUR_MS;
  });
}
