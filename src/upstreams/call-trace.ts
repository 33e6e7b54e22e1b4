import type { ErrorCode } from '../common/service-error.js';
import type { FinishReason, TokenUsage } from './stream-part.js';

/** How far a sample of the answer goes, in UTF-16 units: enough to tell tokens by, too little to matter in memory. */
const SAMPLE_LENGTH = 4_096;

/** One try at one upstream. Times in milliseconds. */
export interface AttemptTrace {
  readonly upstream: string;
  /** Since the completion began. */
  readonly startedMs: number;
  /** From its start to its first text, where it gave any. */
  firstTextMs: number | undefined;
  /** From its start to its end. */
  durationMs: number | undefined;
  /** The vendor has taken the request. */
  accepted: boolean;
  /** Why it failed, if it did. */
  code: ErrorCode | undefined;
}

/** What is known of one completion while it runs, for whoever asked: logs, the usage ledger. */
export class CallTrace {
  private readonly startedAt = performance.now();
  readonly attempts: AttemptTrace[] = [];
  usage: TokenUsage = {};
  /** `raw` is a word of the vendor that we know, or our own: see `finishWord`. */
  finish: { readonly reason: FinishReason; readonly raw: string } | undefined;
  /** UTF-16 units of the answer so far. */
  textLength = 0;
  /** The beginning of the answer. */
  sample = '';

  constructor(readonly requestId: string) {}

  /** Milliseconds since the completion began. */
  get elapsedMs(): number {
    return performance.now() - this.startedAt;
  }

  /** The attempt whose answer this is, or that failed last. */
  get lastAttempt(): AttemptTrace | undefined {
    return this.attempts.at(-1);
  }

  /** What an earlier attempt counted is not part of this one's answer. */
  beginAttempt(upstream: string): AttemptTrace {
    this.usage = {};
    this.finish = undefined;
    const startedMs = this.elapsedMs;
    const attempt: AttemptTrace = {
      upstream,
      startedMs,
      firstTextMs: undefined,
      durationMs: undefined,
      accepted: false,
      code: undefined,
    };
    this.attempts.push(attempt);
    return attempt;
  }

  addText(text: string): void {
    if (this.textLength < SAMPLE_LENGTH) this.sample += text.slice(0, SAMPLE_LENGTH - this.textLength);
    this.textLength += text.length;
  }
}
