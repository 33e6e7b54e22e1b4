import { Logger } from '@nestjs/common';

const REPEAT_MS = 60_000;

/** One line when Redis goes away, one a minute while it stays away, one when it is back. */
export class OutageLog {
  private readonly logger = new Logger('Redis');
  private awaySince: number | undefined;
  private timer: NodeJS.Timeout | undefined;

  away(reason: string): void {
    if (this.awaySince !== undefined) return;
    const since = (this.awaySince = performance.now());
    this.logger.warn(`Redis is away (${reason}): each replica keeps its share of the limits until it is back`);
    this.timer = setInterval(() => {
      this.logger.warn(`Redis has been away for ${Math.round((performance.now() - since) / 1000)} s`);
    }, REPEAT_MS).unref();
  }

  back(): void {
    if (this.awaySince === undefined) return;
    this.logger.log(`Redis is back after ${Math.round((performance.now() - this.awaySince) / 1000)} s`);
    this.end();
  }

  end(): void {
    clearInterval(this.timer);
    this.awaySince = undefined;
  }
}
