import { Logger } from '@nestjs/common';

const PROBE_EVERY_MS = 250;
/** Each may hang on a connection of its own that is dead, until all of these are replaced. */
const MAX_PROBES = 10;
const LOG_EVERY_MS = 60_000;

/** Whether the database is known not to answer. Asks until it does, however few requests there are. */
export class DatabaseAway {
  private readonly logger = new Logger('Database');
  private timer: NodeJS.Timeout | undefined;
  private probes = 0;
  private toldAt = -LOG_EVERY_MS;
  private isTold = false;

  /** @param what goes on meanwhile, in the plural. */
  constructor(private readonly what: string) {}

  get isAway(): boolean {
    return this.timer !== undefined;
  }

  /** @param probe rejects as long as it is away. */
  begin(probe: () => Promise<unknown>): void {
    if (this.isAway) return;
    this.tell();
    const timer = setInterval(() => {
      this.tell();
      if (this.probes >= MAX_PROBES) return;
      this.probes += 1;
      probe()
        .then(
          () => {
            if (this.timer === timer) this.comeBack();
          },
          () => undefined,
        )
        .finally(() => (this.probes -= 1));
    }, PROBE_EVERY_MS).unref();
    this.timer = timer;
  }

  /** Asks no more. */
  end(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private comeBack(): void {
    this.end();
    if (this.isTold) this.logger.log(`The database answers again: ${this.what} are looked up`);
    this.isTold = false;
  }

  private tell(): void {
    if (performance.now() - this.toldAt < LOG_EVERY_MS) return;
    this.toldAt = performance.now();
    this.isTold = true;
    this.logger.warn(`The database does not answer: ${this.what} that it knew within the last minutes go on`);
  }
}
