import { ServiceError } from '../platform/common/service-error.js';
import type { ModelConfig } from '../platform/config/config.js';
import { CallTrace } from '../upstreams/completion/call-trace.js';
import { CLIENT_GONE, type PartReader } from '../upstreams/completion/part-stream.js';
import type { ModelRouter } from '../upstreams/routing/model-router.js';
import type { CompletionRequest } from '../upstreams/routing/failover-stream.js';
import type { SpendReservation } from '../usage/budgets/spend-budgets.js';
import { failedRecord, type LedgerEntry } from '../usage/record/ledger-entry.js';
import type { UsageLedger } from '../usage/ledger/usage-ledger.js';
import type { UsageRecord } from '../usage/record/usage-record.js';
import { quotaTokens } from '../usage/record/token-counts.js';
import type { ChatCaller } from './chat-caller.js';
import type { HookContext } from './hooks/completion-hook.js';
import type { CompletionHooks } from './hooks/completion-hooks.js';
import { headersDue } from './stream/deferred-headers.js';
import type { OpenStreams } from './stream/open-streams.js';

/** A completion that passes through hooks. */
export interface HookedCompletion {
  readonly hooks: CompletionHooks;
  readonly context: HookContext;
  /** Ends the signal of the context. */
  end(): void;
}

/**
 * The parts of one completion, and its record in the ledger.
 *
 * @since 1.0
 */
export interface RecordedParts extends PartReader {
  /** The id of the record. Unlike a request id, it is unique. */
  readonly recordId: string;
  /**
   * Resolves when the completion is over, however it ended, with its token counts and its cost. An estimated count has the source
   * `estimated`. Read the parts to the end, or call `return()`, before you wait for the record.
   */
  readonly record: Promise<UsageRecord>;
}

/** What a completion asks of its provider, within what its tokens allow. */
interface PlannedCompletion {
  readonly model: ModelConfig;
  readonly request: CompletionRequest;
  /** Reserves the most money that the completion can cost. `undefined`: no budget limits the caller. */
  readonly reserve: (() => SpendReservation | Promise<SpendReservation>) | undefined;
}

/**
 * One completion while it runs. It owns what a completion holds: its entry in the open streams, its money, its ledger entry, its
 * lease and its parts. The end releases everything, once.
 */
export class RunningCompletion {
  private readonly trace: CallTrace;
  private readonly unregister: () => void;
  private hold: SpendReservation | undefined;
  /** `undefined` until the intent of the record. */
  private entry: LedgerEntry | undefined;
  /** `undefined` until the call to the provider. */
  private parts: PartReader | undefined;
  private maxTokens: number | undefined;
  /** Why the completion must not call the provider. */
  private stopped: Error | undefined;
  private resolveRecord!: (record: UsageRecord) => void;
  private readonly record = new Promise<UsageRecord>((resolve) => {
    this.resolveRecord = resolve;
  });

  /**
   * Registers the stream, so that the shutdown waits for it. Nothing is reserved before.
   *
   * @param promptTokens the estimated tokens of the prompt. The prompt itself is not needed after the first text.
   * @throws {ServiceError} `shutting_down` or `unavailable` when the process takes no more streams.
   */
  constructor(
    private readonly caller: ChatCaller,
    private readonly promptTokens: number,
    private readonly hooked: HookedCompletion | undefined,
    openStreams: OpenStreams,
  ) {
    const { principal, requestId, signal, isAdmitted } = caller;
    this.trace = new CallTrace(requestId);
    signal.throwIfAborted();
    this.unregister = openStreams.add(principal, this.stop, isAdmitted);
    signal.addEventListener('abort', this.leave);
  }

  /**
   * Reserves the money, begins the record and calls the provider. Resolves when the headers can be sent. The ledger has the intent
   * before the call, so that there is a record of each call, also if the process is killed.
   *
   * @throws {ServiceError} when the answer cannot begin.
   */
  async begin(
    { model, request, reserve }: PlannedCompletion,
    router: ModelRouter,
    ledger: UsageLedger,
  ): Promise<RecordedParts> {
    const maxTokens = reserve === undefined ? request.maxTokens : await this.reserve(reserve);
    const entry = this.beginRecord(model, maxTokens, ledger);
    await entry.stored;
    if (this.stopped !== undefined) {
      this.end(this.stopped);
      throw this.stopped;
    }
    const parts = this.call(model, { ...request, maxTokens }, router);
    try {
      await headersDue(parts.started, parts.accepted, this.caller.waitedMs);
      return Object.assign(parts, { recordId: entry.started.id, record: this.record });
    } catch (error) {
      parts.stop(CLIENT_GONE);
      throw error;
    }
  }

  /** Returns the most tokens of the answer that its money covers. */
  private async reserve(reserve: NonNullable<PlannedCompletion['reserve']>): Promise<number> {
    try {
      this.hold = await reserve();
      if (this.stopped !== undefined) throw this.stopped;
      return this.hold.maxTokens;
    } catch (error) {
      this.release();
      this.hold?.release();
      throw error;
    }
  }

  /** The lease now ends with the completion. */
  private beginRecord(model: ModelConfig, maxTokens: number | undefined, ledger: UsageLedger): LedgerEntry {
    const { principal, requestId, lease, context, detached } = this.caller;
    const recordId = this.hooked?.context.recordId ?? this.hold?.recordId;
    this.maxTokens = maxTokens;
    this.entry = ledger.begin(requestId, principal, model, detached, recordId, context?.surface?.name);
    if (context !== undefined) context.ledgerEntry = this.entry;
    lease?.takeOver?.();
    return this.entry;
  }

  private call(model: ModelConfig, request: CompletionRequest, router: ModelRouter): PartReader {
    const { trace, hooked } = this;
    const isWrapped = hooked?.hooks.wrapsStreams === true;
    const stream = router.stream(model, request, trace, isWrapped ? () => undefined : this.end);
    return (this.parts = isWrapped ? hooked.hooks.wrap(stream, hooked.context, this.end) : stream);
  }

  /** Stops the completion because its client has left, or for the reason of the signal. */
  private readonly leave = (): void => {
    const { reason } = this.caller.signal as { readonly reason: unknown };
    this.stop(reason instanceof ServiceError ? reason : CLIENT_GONE);
  };

  private readonly stop = (reason: Error): void => {
    this.stopped ??= reason;
    this.parts?.stop(reason);
  };

  /** Called once, when the parts have ended, with the failure if there is one. */
  private readonly end = (failure?: unknown): void => {
    const { onComplete } = this.caller;
    const record = (this.entry as LedgerEntry).recordOf(failure, this.trace, this.promptTokens, this.maxTokens);
    if (failure !== undefined || onComplete === undefined) {
      this.close(record);
      return;
    }
    this.caller.signal.removeEventListener('abort', this.leave);
    void onComplete(record).then((refusal) => {
      this.close(refusal === undefined ? record : failedRecord(record, refusal));
    });
  };

  private close(record: UsageRecord): void {
    const { lease } = this.caller;
    this.release();
    this.entry?.close(record);
    lease?.settle(quotaTokens(record));
    this.hold?.settle(record.costMicros);
    this.resolveRecord(record);
    lease?.release();
    this.hooked?.end();
  }

  private release(): void {
    this.unregister();
    this.caller.signal.removeEventListener('abort', this.leave);
  }
}
