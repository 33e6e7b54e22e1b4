import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** What the readers of the honest streams have seen since the last report. */
export interface HonestReport {
  /** The longest time from the provider's text to the reader, in milliseconds. */
  readonly latestMs: number;
  readonly chunks: number;
  /** Streams that were refused or have ended, although their provider goes on. */
  readonly failures: readonly string[];
}

/** Durable streams with a text every 100 ms, read in a thread of their own. The thread is also the provider. */
export class HonestStreams {
  private constructor(
    private readonly thread: Worker,
    /** The origin of the provider. */
    readonly providerOrigin: string,
  ) {}

  static async start(): Promise<HonestStreams> {
    const thread = new Worker(new URL('./honest-streams.mjs', import.meta.url));
    const [{ origin }] = (await once(thread, 'message')) as [{ origin: string }];
    return new HonestStreams(thread, origin);
  }

  /** Opens a stream, which then runs until {@link stop}. */
  open(origin: string, key: string, model: string): void {
    this.thread.postMessage({ open: { origin, key, model } });
  }

  /** Returns what was seen since the last call. */
  async report(): Promise<HonestReport> {
    const answer = once(this.thread, 'message');
    this.thread.postMessage({ report: true });
    const [report] = (await answer) as [HonestReport];
    return report;
  }

  async stop(): Promise<void> {
    await this.thread.terminate();
  }
}
