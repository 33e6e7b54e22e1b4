import { ServiceError } from '../../platform/common/service-error.js';
import { IdleTimeout } from '../../platform/common/timers/timeouts.js';
import type { UpstreamConfig, RouteConfig } from '../../platform/config/config.js';
import { causeOf, ProviderFailure, providerFailure } from '../contract/provider-failure.js';
import type { CompletionPart } from '../contract/stream-part.js';
import { unexpectedFailure } from '../transport/connection-failure.js';
import type { AnswerState } from './answer-state.js';
import type { AttemptTrace, CallTrace } from './call-trace.js';
import type { PartCollector } from './part-collector.js';
import { toldFailure, type MessageSource } from './provider-message.js';
import type { ChatCall } from '../contract/protocol.js';

/** How an attempt has ended. A stopped attempt says nothing about its provider. */
export type AttemptEnd =
  | { readonly type: 'complete' }
  | { readonly type: 'stopped' }
  | { readonly type: 'failed'; readonly failure: ServiceError };

/**
 * Is notified of the events of one attempt: at most one first text, then exactly one end. The `AttemptTrace` of the attempt
 * contains the times and the error code of an event before its observers are notified.
 */
export interface AttemptObserver {
  /** The reader has taken the first text, or the start of the first tool call. */
  onFirstText?(): void;
  onEnd(end: AttemptEnd): void;
}

/** Creates a span for each attempt. See `AttemptFactory.tracer`. */
export interface AttemptTracer {
  begin(attempt: AttemptTrace, trace: CallTrace, route: RouteConfig, call: ChatCall): AttemptSpan;
}

/** The span of an attempt. At the end, `trace` holds the token counts and the finish reason of the attempt. */
export interface AttemptSpan extends AttemptObserver {
  /** Headers that the attempt adds to the request to the provider. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The time to wait for data after the end of the answer, such as token counts and the end of the body. */
export const AFTER_COMPLETE_MS = 2_000;

/**
 * Brings the parts of one answer into a collector: from a provider over HTTP, or from a protocol in this process. A source
 * has no timers and decides nothing. `Attempt` does both, in the same way for every source.
 */
export interface PartSource {
  /**
   * Adds what has arrived to the collector, and tells its state of the head and of the end. Returns false when nothing has arrived
   * since the last call. The source then calls `onChange` when there is more, or when it has failed.
   *
   * @throws {ServiceError} when the answer cannot be completed.
   */
  read(): boolean;
  /** Stops the work of the provider. The answer then fails, with `reason` or with a more precise reason. */
  close(reason: Error): void;
  /** Releases the source after a complete answer. */
  finish(): void;
}

const COMPLETE: AttemptEnd = { type: 'complete' };
const STOPPED: AttemptEnd = { type: 'stopped' };

/**
 * One attempt to get a completion from one route, whatever the transport. The attempt applies the time limits, decides
 * whether the answer is complete, and releases the source. It records its times and its error code, and notifies its
 * observers of its first text and of its end.
 */
export class Attempt {
  private readonly source: PartSource | undefined;
  private readonly idleTimeout: IdleTimeout;
  /** True while the reader waits for the provider. Only this time counts for the time limits. */
  private isAwaited = true;

  /**
   * @param open opens the source, which adds the parts to the collector.
   * @param onChange called when {@link read} may return more, or throw.
   * @param mayBeEmpty whether an answer without any content is an answer, because a stop text can end it at once.
   */
  constructor(
    open: () => PartSource,
    private readonly collector: PartCollector,
    private readonly upstream: Pick<UpstreamConfig, 'timeouts'> & MessageSource,
    private readonly completion: CallTrace,
    private readonly trace: AttemptTrace,
    private readonly observers: readonly AttemptObserver[],
    onChange: () => void,
    private readonly mayBeEmpty = false,
  ) {
    this.idleTimeout = new IdleTimeout(
      upstream.timeouts.firstTokenMs,
      () => this.isAwaited,
      () => {
        this.source?.close(new ProviderFailure('upstream_timeout', 'The provider did not answer in time.'));
        onChange();
      },
    );
    try {
      this.source = open();
      trace.accepted = this.state.is('arriving');
    } catch (error) {
      this.state.fail(unexpectedFailure(error));
    }
  }

  /** True when the provider has accepted the request. */
  get isAccepted(): boolean {
    return this.trace.accepted;
  }

  /** True when {@link read} has nothing more to return. */
  get isOver(): boolean {
    return this.state.isOver;
  }

  /** True when the answer is complete and {@link read} has returned its whole text. */
  get isWhole(): boolean {
    return this.collector.isWhole && !this.isFiltered;
  }

  /**
   * Returns the next part. Returns `undefined` when nothing has arrived, and at the end (see {@link isOver}).
   *
   * @throws {ServiceError} the failure of the attempt. The attempt is then over.
   */
  read(): CompletionPart | undefined {
    if (this.isOver) return undefined;
    try {
      const part = this.next();
      this.isAwaited = part === undefined;
      if (part === undefined && this.state.is('whole')) this.complete();
      else if (part?.type === 'text' || part?.type === 'tool_call_start') this.recordText();
      return part;
    } catch (error) {
      throw this.fail(error);
    }
  }

  /** Stops the work of the provider, for a reason that is not the provider's fault. Has no effect after the end. */
  stop(reason: Error): void {
    if (this.isOver) return;
    this.source?.close(reason);
    this.state.on('stop');
    this.end(STOPPED);
  }

  private get state(): AnswerState {
    return this.collector.state;
  }

  /** True when the provider's content filter has cut the answer. */
  private get isFiltered(): boolean {
    return this.completion.finish?.reason === 'content_filter';
  }

  private get elapsedMs(): number {
    return this.completion.elapsedMs - this.trace.startedMs;
  }

  private next(): CompletionPart | undefined {
    const { state, collector } = this;
    for (;;) {
      const part = collector.take();
      if (part !== undefined) return part;
      if (state.is('broken')) throw state.failure as Error;
      if (!state.isOpen || this.source === undefined || !this.readSource(this.source)) return undefined;
    }
  }

  private readSource(source: PartSource): boolean {
    const { collector, state, hasEnded } = this;
    try {
      if (!source.read()) return false;
    } catch (error) {
      state.fail(unexpectedFailure(error), 'lose');
    }
    this.trace.accepted ||= state.is('arriving');
    // One deadline for what may still follow. Further bytes do not extend the deadline.
    if (!this.hasEnded && collector.signOfLife) this.idleTimeout.restart(this.upstream.timeouts.idleMs);
    else if (this.hasEnded && !hasEnded) this.idleTimeout.restart(AFTER_COMPLETE_MS);
    collector.signOfLife = false;
    return true;
  }

  /** True when the provider has sent all that matters, and has little time for the rest. */
  private get hasEnded(): boolean {
    return this.state.is('marked') || this.state.is('refused');
  }

  private recordText(): void {
    if (this.trace.firstTextMs !== undefined) return;
    this.trace.firstTextMs = this.elapsedMs;
    for (const observer of this.observers) observer.onFirstText?.();
  }

  private complete(): void {
    if (this.isFiltered) throw this.filtered();
    if (this.collector.isEmpty && !this.mayBeEmpty) throw providerFailure('upstream_error', 'The answer is empty.');
    this.source?.finish();
    this.state.on('taken');
    this.end(COMPLETE);
  }

  /** Before any text, the caller gets an error. After some text, the answer is not complete. */
  private filtered(): ServiceError {
    if (this.completion.textLength === 0) {
      const message = 'The content filter of the provider has stopped the answer before its first text.';
      return new ProviderFailure('upstream_rejected', message, { cause: new Error('finish reason: content_filter') });
    }
    return new ServiceError('content_filtered', "The provider's content filter has cut the answer.");
  }

  private fail(error: unknown): ServiceError {
    const failure = toldFailure(unexpectedFailure(error), this.upstream);
    this.source?.close(failure);
    this.state.fail(failure);
    this.state.on('taken');
    this.trace.code = failure.code;
    this.trace.cause = causeOf(failure);
    this.end({ type: 'failed', failure });
    return failure;
  }

  private end(end: AttemptEnd): void {
    this.idleTimeout.stop();
    this.trace.durationMs = this.elapsedMs;
    for (const observer of this.observers) observer.onEnd(end);
  }
}
