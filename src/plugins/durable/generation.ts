import { Logger } from '@nestjs/common';
import type { ChatCaller, DurableFacts } from '../../plugin-api/core/chat.js';
import { elapsedMs, ServiceError, startTimer } from '../../plugin-api/core/common.js';
import { toServiceError } from '../../plugin-api/core/http.js';
import { CLIENT_GONE, type PartReader } from '../../plugin-api/core/upstreams.js';
import type { UsageRecord } from '../../plugin-api/core/usage.js';
import { CLAIM_RELEASED, type Ending } from './log/stream-log.js';
import type { OwnStream } from './store/stream-store.js';

/** How often the readers are counted, as a share of the time that a stream may run without a reader. */
const COUNTS_PER_LIMIT = 8;
const MAX_COUNT_INTERVAL_MS = 1_000;

/** The reason why a completion stops whose claim was lost before the head. */
const NOT_BEGUN = new ServiceError('interrupted', 'The claim on the stream was lost before the answer began.');

const logger = new Logger('DurableStream');

/**
 * Generates one durable stream: reads the answer and appends it to the log, regardless of who reads the log. Stops the
 * provider when the stream has had no reader for too long.
 */
export class Generation {
  private readonly left = new AbortController();
  private parts: PartReader | undefined;
  private timer: NodeJS.Timeout | undefined;
  private isOver = false;
  private lastReaderAt = elapsedMs();
  private record: UsageRecord | undefined;
  private resolveKept!: (failure: ServiceError | undefined) => void;
  private readonly kept = new Promise<ServiceError | undefined>((resolve) => {
    this.resolveKept = resolve;
  });

  /** @param detachedMs how long the stream may run without a reader. */
  constructor(
    private readonly stream: OwnStream,
    private readonly detachedMs: number,
    private readonly requestId: string,
    private readonly facts: DurableFacts,
  ) {
    // The events of a surface show the parts.
    stream.log.joinsTexts = facts.head === undefined;
    stream.onStop = (reason) => {
      if (this.parts === undefined) this.left.abort(reason);
      else this.parts.stop(reason);
    };
  }

  /**
   * Begins the answer. Resolves when the answer has begun, and the store has confirmed the claim. The rest of the answer follows by
   * itself.
   *
   * @param open starts the completion. The signal aborts when no client waits for the answer any longer. See
   * `ChatCaller.onComplete`.
   * @throws what `open` throws, and {@link ServiceError} `unavailable` when the claim is lost. The key of the stream is then free
   * again.
   */
  async begin(open: (signal: AbortSignal, onComplete: ChatCaller['onComplete']) => Promise<PartReader>): Promise<void> {
    const { stream } = this;
    this.countReadersLater();
    try {
      this.parts = await open(this.left.signal, (record) => {
        this.record = record;
        return this.kept;
      });
      await stream.begin(this.facts.head);
    } catch (error) {
      this.stopCounting();
      const { reason } = this.left.signal as { readonly reason: unknown };
      const failure = refusalOf(reason instanceof ServiceError ? reason : error);
      this.parts?.stop(NOT_BEGUN);
      this.resolveKept(NOT_BEGUN);
      stream.abandon(concernsOthers(failure) ? failure : CLAIM_RELEASED);
      throw failure;
    }
    const { parts } = this;
    parts.onReadable = () => {
      this.pump(parts);
    };
    this.pump(parts);
  }

  private pump(parts: PartReader): void {
    const { log } = this.stream;
    try {
      for (let part = parts.read(); part !== undefined; part = parts.read()) log.append(part);
      if (!parts.isOver) return;
      void this.end({ kind: 'done', facts: this.record && this.facts.tail(this.record) });
    } catch (error) {
      parts.onReadable = () => undefined;
      parts.stop(error as Error);
      void this.end(endingOf(error, this.requestId));
    }
  }

  private async end(ending: Ending): Promise<void> {
    if (this.isOver) return;
    this.stopCounting();
    // The owner of the account has ended the credential, so nothing that it has asked for is kept.
    if (ending.kind === 'failed' && ending.code === 'key_revoked') this.stream.drop();
    const kept = await this.stream.end(ending);
    this.resolveKept(kept?.kind === 'failed' ? new ServiceError(kept.code, kept.message) : undefined);
  }

  private countReadersLater(): void {
    const everyMs = Math.min(MAX_COUNT_INTERVAL_MS, this.detachedMs / COUNTS_PER_LIMIT);
    this.timer = startTimer(() => {
      this.countReaders();
    }, everyMs).unref();
  }

  private stopCounting(): void {
    this.isOver = true;
    clearTimeout(this.timer);
  }

  private countReaders(): void {
    const now = elapsedMs();
    if (this.stream.readers > 0) this.lastReaderAt = now;
    if (now - this.lastReaderAt < this.detachedMs) {
      this.countReadersLater();
      return;
    }
    this.left.abort();
    this.parts?.stop(CLIENT_GONE);
  }
}

/** Another replica may have the claim on a stream that has lost it before the head. The client can repeat the request. */
function refusalOf(failure: unknown): unknown {
  const isLost = failure instanceof ServiceError && failure.code === 'interrupted';
  return isLost ? new ServiceError('unavailable', failure.message, { cause: failure, retryAfterSeconds: 1 }) : failure;
}

/** Whether a failure before the first text is an answer to everyone who waits for the same stream. */
function concernsOthers(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.code !== 'unauthenticated' && error.code !== 'shutting_down';
}

function endingOf(error: unknown, requestId: string): Ending {
  if (error === CLIENT_GONE) {
    return { kind: 'failed', code: 'cancelled', message: 'The generation was stopped, because no client was reading.' };
  }
  const { code, message, cause } = toServiceError(error);
  if (code === 'internal_error') {
    const [reason, stack] = cause instanceof Error ? [cause.message, cause.stack] : [];
    logger.error({ msg: message, requestId, code, reason }, stack);
  }
  return { kind: 'failed', code, message };
}
