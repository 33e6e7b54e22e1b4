import { ServiceError } from '../common/service-error.js';

const RETRY_AFTER_SECONDS = 2;

/** Does expensive work for some at a time, lets some more wait, and turns the rest away. */
export class WorkQueue {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(
    private readonly atOnce: number,
    private readonly mayWait: number,
  ) {}

  /** @throws {ServiceError} `unavailable` when too many wait already. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.running < this.atOnce) this.running++;
    else await this.turn();
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      // The place goes from hand to hand, so that nobody can slip in between.
      if (next === undefined) this.running--;
      else next();
    }
  }

  private async turn(): Promise<void> {
    if (this.waiting.length >= this.mayWait) {
      throw new ServiceError('unavailable', 'Too many people sign in right now. Try again in a moment.', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
    return new Promise((resolve) => this.waiting.push(resolve));
  }
}
