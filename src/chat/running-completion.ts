import { INVALID_TOKEN_CHALLENGE } from '../auth/bearer/challenge.js';
import { ServiceError } from '../common/service-error.js';
import type { ModelConfig } from '../config/config.js';
import { CallTrace } from '../upstreams/completion/call-trace.js';
import { CLIENT_GONE, type PartReader } from '../upstreams/completion/part-reader.js';
import type { ModelRouter } from '../upstreams/routing/model-router.js';
import type { CompletionRequest } from '../upstreams/routing/routed-completion.js';
import type { SpendHold } from '../usage/budgets/spend-budgets.js';
import type { LedgerEntry } from '../usage/record/ledger-entry.js';
import type { UsageLedger } from '../usage/ledger/usage-ledger.js';
import type { UsageRecord } from '../usage/record/usage-record.js';
import { quotaTokens } from '../usage/record/token-counts.js';
import type { PromptSample } from '../usage/record/token-estimate.js';
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

/** The parts of one completion, and its record in the ledger. */
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
 * One completion while it runs. It owns what a completion holds: its entry in the open streams, its ledger entry, its lease
 * and its parts. The methods are called in this order: `register`, `start`, `begun`. The end releases everything, once.
 */
export class RunningCompletion {
  private readonly trace: CallTrace;
  private parts!: PartReader;
  private entry!: LedgerEntry;
  private unregister!: () => void;
  private resolveRecord!: (record: UsageRecord) => void;
  private readonly record = new Promise<UsageRecord>((resolve) => {
    this.resolveRecord = resolve;
  });

  /** @param prompt a sample only, because the prompt itself may have 4 MiB and is not needed after the first text. */
  constructor(
    private readonly caller: ChatCaller,
    private readonly prompt: PromptSample,
    private readonly hooked: HookedCompletion | undefined,
    private readonly hold?: SpendHold,
  ) {
    this.trace = new CallTrace(caller.requestId);
  }

  /**
   * Registers the stream, starts its ledger entry and takes over its lease. After this call, {@link start} must follow.
   *
   * @throws {ServiceError} `shutting_down` or `unavailable` when the process takes no more streams.
   */
  register(model: ModelConfig, openStreams: OpenStreams, ledger: UsageLedger): void {
    const { principal, requestId, lease, context, detached } = this.caller;
    this.unregister = openStreams.add(principal, (reason) => {
      this.parts.stop(reason);
    });
    const recordId = this.hooked?.context.recordId ?? this.hold?.recordId;
    this.entry = ledger.begin(requestId, principal, model, detached, recordId, context?.surface?.name);
    if (context !== undefined) context.ledgerEntry = this.entry;
    lease?.takeOver?.();
  }

  /** Starts the call to the provider. */
  start(model: ModelConfig, completion: CompletionRequest, router: ModelRouter): void {
    const { trace, hooked } = this;
    this.caller.signal.addEventListener('abort', this.leave);
    if (hooked?.hooks.wrapsStreams === true) {
      const stream = router.stream(model, completion, trace, () => undefined);
      this.parts = hooked.hooks.wrap(stream, hooked.context, this.end);
    } else {
      this.parts = router.stream(model, completion, trace, this.end);
    }
  }

  /**
   * Resolves when the headers can be sent and the ledger has the entry.
   *
   * @throws {ServiceError} when the answer cannot begin.
   */
  async begun(): Promise<RecordedParts> {
    const { parts, record } = this;
    try {
      await headersDue(parts.begun, parts.accepted);
      return Object.assign(parts, { recordId: this.entry.begun.id, record });
    } catch (error) {
      parts.stop(CLIENT_GONE);
      throw error instanceof ServiceError && error.code === 'key_revoked' ? refusedKey(error) : error;
    } finally {
      await this.entry.stored;
    }
  }

  /** Stops the completion because its client has left. */
  private readonly leave = (): void => {
    this.parts.stop(CLIENT_GONE);
  };

  /** Called once, when the parts have ended, with the failure if there is one. */
  private readonly end = (failure?: unknown): void => {
    const { lease, signal } = this.caller;
    this.unregister();
    signal.removeEventListener('abort', this.leave);
    const record = this.entry.end(failure, this.trace, this.prompt);
    lease?.settle(quotaTokens(record));
    this.hold?.settle(record.costMicros);
    this.resolveRecord(record);
    lease?.release();
    this.hooked?.end();
  };
}

/** Converts the error of a revoked key to `unauthenticated`, for the time before the headers are sent. */
function refusedKey({ message }: ServiceError): ServiceError {
  return new ServiceError('unauthenticated', message, { headers: { 'WWW-Authenticate': INVALID_TOKEN_CHALLENGE } });
}
