import { ServiceError } from '../platform/common/service-error.js';
import type { ModelConfig } from '../platform/config/config.js';
import { CallTrace } from '../upstreams/completion/call-trace.js';
import { CLIENT_GONE, type PartReader } from '../upstreams/completion/part-reader.js';
import type { ModelRouter } from '../upstreams/routing/model-router.js';
import type { CompletionRequest } from '../upstreams/routing/routed-completion.js';
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

/**
 * One completion while it runs. It owns what a completion holds: its entry in the open streams, its money, its ledger entry, its
 * lease and its parts. The methods are called in this order: `register`, `reserve`, `start`, `started`. The end releases everything,
 * once. A completion that fails before `start` must be ended with `withdraw`.
 */
export class RunningCompletion {
  private readonly trace: CallTrace;
  /** `undefined` until the call to the provider. */
  private parts: PartReader | undefined;
  /** `undefined` until {@link start}. */
  private entry: LedgerEntry | undefined;
  private hold: SpendReservation | undefined;
  private maxTokens: number | undefined;
  /** Why the completion must not call the provider. */
  private stopped: Error | undefined;
  private unregister!: () => void;
  private resolveRecord!: (record: UsageRecord) => void;
  private readonly record = new Promise<UsageRecord>((resolve) => {
    this.resolveRecord = resolve;
  });

  /** @param promptTokens the estimated tokens of the prompt. The prompt itself is not needed after the first text. */
  constructor(
    private readonly caller: ChatCaller,
    private readonly promptTokens: number,
    private readonly hooked: HookedCompletion | undefined,
  ) {
    this.trace = new CallTrace(caller.requestId);
  }

  /**
   * Registers the stream, so that the shutdown waits for it. Nothing is reserved before.
   *
   * @throws {ServiceError} `shutting_down` or `unavailable` when the process takes no more streams.
   */
  register(openStreams: OpenStreams): void {
    const { principal, signal, isAdmitted } = this.caller;
    signal.throwIfAborted();
    this.unregister = openStreams.add(principal, this.stop, isAdmitted);
    signal.addEventListener('abort', this.leave);
  }

  /** Takes over the money that is reserved for the completion. Returns the most tokens of the answer that the money covers. */
  async reserve(hold: SpendReservation | Promise<SpendReservation>): Promise<number> {
    this.hold = hold instanceof Promise ? await hold : hold;
    if (this.stopped !== undefined) throw this.stopped;
    return this.hold.maxTokens;
  }

  /** Releases everything, because {@link start} is not called. */
  withdraw(): void {
    this.release();
    this.hold?.release();
  }

  /**
   * Starts the ledger entry, takes over the lease, and calls the provider. The ledger has the intent before the call, so that there
   * is a record of each call, also if the process is killed.
   */
  async start(
    model: ModelConfig,
    completion: CompletionRequest,
    router: ModelRouter,
    ledger: UsageLedger,
  ): Promise<LedgerEntry> {
    const { principal, requestId, lease, context, detached } = this.caller;
    const { trace, hooked } = this;
    this.maxTokens = completion.maxTokens;
    const recordId = hooked?.context.recordId ?? this.hold?.recordId;
    const entry = ledger.begin(requestId, principal, model, detached, recordId, context?.surface?.name);
    this.entry = entry;
    if (context !== undefined) context.ledgerEntry = entry;
    lease?.takeOver?.();
    await entry.stored;
    if (this.stopped !== undefined) {
      this.end(this.stopped);
      throw this.stopped;
    }
    if (hooked?.hooks.wrapsStreams === true) {
      const stream = router.stream(model, completion, trace, () => undefined);
      this.parts = hooked.hooks.wrap(stream, hooked.context, this.end);
    } else {
      this.parts = router.stream(model, completion, trace, this.end);
    }
    return entry;
  }

  /**
   * Resolves when the headers can be sent.
   *
   * @throws {ServiceError} when the answer cannot begin.
   */
  async started({ started: { id } }: LedgerEntry): Promise<RecordedParts> {
    const { record } = this;
    const parts = this.parts as PartReader;
    try {
      await headersDue(parts.started, parts.accepted, this.caller.waitedMs);
      return Object.assign(parts, { recordId: id, record });
    } catch (error) {
      parts.stop(CLIENT_GONE);
      throw error;
    }
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
