import type { ErrorCode } from '../../common/service-error.js';
import type { PriceConfig } from '../../config/config.js';
import type { FinishReason, TokenUsage } from '../contract/stream-part.js';

/** The maximum length of the sample, in UTF-16 units. This is enough to estimate tokens and uses little memory. */
const SAMPLE_LENGTH = 4_096;

/** One attempt at one upstream. Times are in milliseconds. */
export interface AttemptTrace {
  readonly upstream: string;
  /** The price of the route. `undefined`: the price of the model applies. */
  readonly price?: PriceConfig | undefined;
  /** From the start of the completion to the start of this attempt. */
  readonly startedMs: number;
  /** From the start of the attempt to its first text or tool call. `undefined`: the attempt returned neither. */
  firstTextMs: number | undefined;
  /** From the start of the attempt to its end. `undefined` while the attempt runs. */
  durationMs: number | undefined;
  /** True when the provider has accepted the request. */
  accepted: boolean;
  /** The error code when the attempt failed. */
  code: ErrorCode | undefined;
}

/** Collects the facts about one completion while the completion runs. Logs and the usage ledger read them. */
export class CallTrace {
  private readonly startedAt = performance.now();
  readonly attempts: AttemptTrace[] = [];
  usage: TokenUsage = {};
  /** `raw` is the finish reason of the provider, or of the service; see `recordedFinishReason`. */
  finish: { readonly reason: FinishReason; readonly raw: string } | undefined;
  /** The length of the answer so far, with the names and arguments of its tool calls, in UTF-16 units. */
  textLength = 0;
  /** The beginning of the answer, at most 4,096 UTF-16 units. For the estimate of tokens only. */
  sample = '';
  /** The number of complete tool calls of the answer. */
  toolCalls = 0;

  constructor(readonly requestId: string) {}

  /** Milliseconds since the completion began. */
  get elapsedMs(): number {
    return performance.now() - this.startedAt;
  }

  /** The attempt that produces the answer, or the attempt that failed last. */
  get lastAttempt(): AttemptTrace | undefined {
    return this.attempts.at(-1);
  }

  /** Starts a new attempt. Clears the token counts and the finish reason of the previous attempt. */
  beginAttempt(upstream: string, price?: PriceConfig): AttemptTrace {
    this.usage = {};
    this.finish = undefined;
    const startedMs = this.elapsedMs;
    const attempt: AttemptTrace = {
      upstream,
      price,
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
