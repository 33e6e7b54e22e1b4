import { Injectable, Logger, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { HOUR_MS } from '../clock.js';
import { sleep, startTimer } from './pace.js';

/** Runs a task again and again. The next run begins some time after the end of the run before it. The timers do not keep the process alive. */
export class PeriodicTask {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private isStopped = false;

  /** @param task returns the time until its next run, in milliseconds. It must not reject. */
  constructor(private readonly task: () => Promise<number>) {}

  /** Begins a run after this time. Does nothing after {@link stop}. */
  start(delayMs: number): void {
    if (this.isStopped) return;
    this.timer = startTimer(() => {
      this.running = this.run();
    }, delayMs).unref();
  }

  /** Begins no more runs. Resolves when the present run has ended. */
  async stop(): Promise<void> {
    this.isStopped = true;
    clearTimeout(this.timer);
    await this.running;
  }

  private async run(): Promise<void> {
    this.start(await this.task());
  }
}

const FIRST_RUN_AFTER_MS = 20_000;
/** Between two portions of a job. */
const PAUSE_MS = 50;

/** Does a portion of the work, and returns whether there may be more. A long portion ends when the signal is aborted. */
type HourlyJob = (signal: AbortSignal) => Promise<boolean>;

/**
 * The work that is done once an hour, and soon after the start: the deletion of old rows, and looks for what other processes could not
 * report. The jobs run side by side, each in small portions. Several replicas may do the same job at the same time.
 */
@Injectable()
export class HourlyJobs implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(HourlyJobs.name);
  private readonly jobs: { readonly name: string; readonly job: HourlyJob }[] = [];
  private readonly stopping = new AbortController();
  private readonly task = new PeriodicTask(async () => {
    await Promise.all(this.jobs.map(({ name, job }) => this.run(name, job)));
    return HOUR_MS;
  });

  /** @param name what the job does, for the log: `Deletes old usage records`. */
  add(name: string, job: HourlyJob): void {
    this.jobs.push({ name, job });
  }

  onApplicationBootstrap(): void {
    this.task.start(FIRST_RUN_AFTER_MS);
  }

  /** Waits for the portions that run. In this hook, the database is still open. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.task.stop();
  }

  private async run(name: string, job: HourlyJob): Promise<void> {
    const { signal } = this.stopping;
    try {
      while (!signal.aborted && (await job(signal))) await sleep(PAUSE_MS, { ref: false });
    } catch (error) {
      this.logger.warn({
        msg: 'An hourly job has failed, and is tried again in an hour',
        job: name,
        reason: String(error),
      });
    }
  }
}
