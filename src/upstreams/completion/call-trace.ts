import type { ErrorCode } from '../../platform/common/service-error.js';
import type { PriceConfig } from '../../platform/config/config.js';
import type { FailureCause } from '../contract/provider-failure.js';
import type { FinishReason, TokenUsage } from '../contract/stream-part.js';
import { TokenScan } from '../tokens/token-scan.js';

/** One attempt at one upstream. Times are in milliseconds. */
export interface AttemptTrace {
  readonly upstream: string;
  /** The price of the route. `undefined`: the price of the model applies. */
  readonly price?: PriceConfig | undefined;
  /** From the start of the completion to the start of this attempt. */
  startedMs: number;
  /** From the start of the attempt to its first text or tool call. `undefined`: the attempt returned neither. */
  firstTextMs: number | undefined;
  /** From the start of the attempt to its end. `undefined` while the attempt runs. */
  durationMs: number | undefined;
  /** True when the provider has accepted the request. */
  accepted: boolean;
  /** The error code when the attempt failed. */
  code: ErrorCode | undefined;
  /** Why the attempt failed. */
  cause?: FailureCause | undefined;
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
  /** Counts what the provider has sent, also the reasoning that no reader gets. */
  private passed = new TokenScan();
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

  /** The estimated tokens of what the provider has sent: text, tool calls and reasoning. */
  get passedTokens(): number {
    return this.passed.tokens;
  }

  /** Starts a new attempt. Clears the token counts, the finish reason and the reasoning of the previous attempt. */
  beginAttempt(upstream: string, price?: PriceConfig): AttemptTrace {
    this.usage = {};
    this.finish = undefined;
    this.passed = new TokenScan();
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

  /** Records that the request of the attempt was lost, and is sent again now. */
  sentAgain(attempt: AttemptTrace): void {
    const now = this.elapsedMs;
    const lost: AttemptTrace = { ...attempt, durationMs: now - attempt.startedMs, code: 'upstream_error' };
    this.attempts.splice(this.attempts.indexOf(attempt), 0, lost);
    attempt.startedMs = now;
  }

  addText(text: string): void {
    this.textLength += text.length;
    this.passed.add(text);
  }

  /** Reasoning is not part of the answer, but the provider charges it. */
  addReasoning(text: string): void {
    this.passed.add(text);
  }
}
