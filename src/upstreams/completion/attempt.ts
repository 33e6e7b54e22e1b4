import { ServiceError } from '../../common/service-error.js';
import { SilenceTimer } from '../../common/timers/silence-timer.js';
import type { UpstreamTimeouts } from '../../config/config.js';
import { ProviderFailure, providerFailure } from '../contract/provider-failure.js';
import type { CompletionPart } from '../contract/stream-part.js';
import { unexpectedFailure } from '../transport/connection-failure.js';
import type { AttemptAccount } from './attempt-account.js';
import type { CallTrace } from './call-trace.js';
import { PartCollector } from './part-collector.js';
import { AFTER_COMPLETE_MS, type PartSource } from './part-source.js';

/** Opens the source of an attempt. */
export type OpenSource = (collector: PartCollector, onChange: () => void) => PartSource;

/**
 * One attempt to get a completion from one route, whatever the transport. The attempt applies the time limits, decides
 * whether the answer is complete, and releases the source. It tells its account when the provider has accepted the request,
 * when the first text has arrived, and how the attempt has ended: each exactly once.
 */
export class Attempt {
  /** Why there is no source. */
  private failure: ServiceError | undefined;
  private isEnded = false;
  private hasText = false;
  private readonly collector: PartCollector;
  private readonly source: PartSource | undefined;
  private readonly silence: SilenceTimer;
  /** True while the reader waits for the provider. Only this time counts for the time limits. */
  private isAwaited = true;
  /** True when the provider has told all that matters, and has little time for the rest. */
  private isEnding = false;

  /** @param onChange called when {@link read} may return more, or throw. */
  constructor(
    open: OpenSource,
    private readonly timeouts: UpstreamTimeouts,
    private readonly trace: CallTrace,
    private readonly account: AttemptAccount,
    onChange: () => void,
    keepsReasoning = false,
  ) {
    this.collector = new PartCollector(trace, keepsReasoning);
    this.silence = new SilenceTimer(
      timeouts.firstTokenMs,
      () => this.isAwaited,
      () => {
        this.source?.close(new ProviderFailure('upstream_timeout', 'The provider did not answer in time.'));
        onChange();
      },
    );
    try {
      this.source = open(this.collector, onChange);
      if (this.source.isAccepted) account.accept();
    } catch (error) {
      this.failure = unexpectedFailure(error);
    }
  }

  /** True when the provider has accepted the request. */
  get isAccepted(): boolean {
    return this.source?.isAccepted ?? false;
  }

  /** True when {@link read} has nothing more to return. */
  get isOver(): boolean {
    return this.isEnded;
  }

  /** True when the answer is complete and {@link read} has returned its whole text. */
  get isWhole(): boolean {
    return this.collector.isWhole && !this.isFiltered;
  }

  /**
   * Returns the next part. Returns `undefined` when nothing has arrived, and at the end (see {@link isOver}).
   *
   * @throws the failure of the attempt. The attempt is then over.
   */
  read(): CompletionPart | undefined {
    if (this.isEnded) return undefined;
    try {
      const part = this.next();
      this.isAwaited = part === undefined;
      if (part === undefined && this.collector.over) this.complete();
      else if (part?.type === 'text') this.noteText();
      return part;
    } catch (error) {
      throw this.fail(error);
    }
  }

  /** Stops the work of the provider, for a reason that is not the provider's fault. Has no effect after the end. */
  stop(reason: Error): void {
    if (this.isEnded) return;
    this.end();
    this.source?.close(reason);
    this.account.stop();
  }

  /** True when the provider's content filter has cut the answer. */
  private get isFiltered(): boolean {
    return this.trace.finish?.reason === 'content_filter';
  }

  private next(): CompletionPart | undefined {
    if (this.failure !== undefined) throw this.failure;
    const { collector } = this;
    for (;;) {
      const part = collector.take();
      if (part !== undefined) return part;
      if (collector.error !== undefined) throw collector.error;
      if (collector.over || this.source === undefined || !this.readSource(this.source)) return undefined;
    }
  }

  private readSource(source: PartSource): boolean {
    const { collector } = this;
    try {
      if (!source.read()) return false;
    } catch (error) {
      // A failure after the answer is complete does not change the answer.
      if (!collector.complete) throw error;
      collector.over = true;
    }
    if (source.isAccepted) this.account.accept();
    if (collector.complete || source.isRefused) this.awaitEnd();
    else if (collector.signOfLife) this.silence.allow(this.timeouts.idleMs);
    collector.signOfLife = false;
    return true;
  }

  /** Sets one deadline for what may still follow. Further bytes do not extend the deadline. */
  private awaitEnd(): void {
    if (this.isEnding) return;
    this.isEnding = true;
    this.silence.allow(AFTER_COMPLETE_MS);
  }

  private noteText(): void {
    if (this.hasText) return;
    this.hasText = true;
    this.account.text();
  }

  private complete(): void {
    if (this.isFiltered) throw this.filtered();
    this.end();
    this.source?.finish();
    this.account.complete();
  }

  /** Before any text, the caller gets an error. After some text, the answer is not complete. */
  private filtered(): ServiceError {
    if (this.trace.textLength === 0) return providerFailure('upstream_rejected', 'finish reason: content_filter');
    return new ServiceError('content_filtered', "The provider's content filter has cut the answer.");
  }

  private fail(error: unknown): ServiceError {
    const failure = unexpectedFailure(error);
    this.end();
    this.source?.close(failure);
    this.account.fail(failure);
    return failure;
  }

  private end(): void {
    this.isEnded = true;
    this.silence.stop();
  }
}
