import { Logger } from '@nestjs/common';
import { ServiceError } from '../../common/service-error.js';
import { toServiceError } from '../../http/errors/to-service-error.js';
import { CLIENT_GONE } from '../../upstreams/completion/part-reader.js';
import type { PartReader } from '../../upstreams/completion/part-reader.js';
import type { CompletionPart } from '../../upstreams/contract/stream-part.js';
import { CLAIM_RELEASED, type Ending } from './log/stream-log.js';
import type { OwnStream } from './store/stream-store.js';

/** How often the readers are counted, as a share of the time that a stream may run without a reader. */
const COUNTS_PER_LIMIT = 8;
const MAX_COUNT_INTERVAL_MS = 1_000;

/** How a generation writes its answer to the log. Each method returns the text to append. */
export interface PartWriter {
  begin(): string;
  part(part: CompletionPart): string;
  /** Called when the answer is complete. */
  end(): string;
}

/** Writes only the text of an answer. */
const TEXT_ONLY: PartWriter = {
  begin: () => '',
  part: (part) => (part.type === 'text' ? part.text : ''),
  end: () => '',
};

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
  private lastReaderAt = performance.now();

  /** @param detachedMs how long the stream may run without a reader. */
  constructor(
    private readonly stream: OwnStream,
    private readonly detachedMs: number,
    private readonly requestId: string,
    private readonly writer = TEXT_ONLY,
  ) {
    stream.onStop = (reason) => {
      if (this.parts === undefined) this.left.abort(reason);
      else this.parts.stop(reason);
    };
  }

  /**
   * Begins the answer. Resolves when the answer has begun. The rest of the answer follows by itself.
   *
   * @param open starts the completion. The signal aborts when no client waits for the answer any longer.
   * @throws what `open` throws. The key of the stream is then free again.
   */
  async begin(open: (signal: AbortSignal) => Promise<PartReader>): Promise<void> {
    const { stream } = this;
    this.countReadersLater();
    let parts: PartReader;
    try {
      parts = await open(this.left.signal);
    } catch (error) {
      this.stopCounting();
      const { reason } = this.left.signal as { readonly reason: unknown };
      const failure = reason instanceof ServiceError ? reason : error;
      stream.abandon(concernsOthers(failure) ? failure : CLAIM_RELEASED);
      throw failure;
    }
    this.parts = parts;
    stream.log.begin();
    parts.onReadable = () => {
      this.pump(parts);
    };
    this.pump(parts, this.writer.begin());
  }

  private pump(parts: PartReader, beginning = ''): void {
    const { writer } = this;
    const { log } = this.stream;
    try {
      log.append(beginning);
      for (let part = parts.read(); part !== undefined; part = parts.read()) {
        log.append(writer.part(part));
      }
      if (!parts.isOver) return;
      log.append(writer.end());
      this.end({ kind: 'done' });
    } catch (error) {
      parts.onReadable = () => undefined;
      parts.stop(error as Error);
      this.end(endingOf(error, this.requestId));
    }
  }

  private end(ending: Ending): void {
    this.stopCounting();
    this.stream.log.end(ending);
    // The owner of the account has ended the credential, so nothing that it has asked for is kept.
    if (ending.kind === 'failed' && ending.code === 'key_revoked') this.stream.drop();
  }

  private countReadersLater(): void {
    const everyMs = Math.min(MAX_COUNT_INTERVAL_MS, this.detachedMs / COUNTS_PER_LIMIT);
    this.timer = setTimeout(() => void this.countReaders(), everyMs).unref();
  }

  private stopCounting(): void {
    this.isOver = true;
    clearTimeout(this.timer);
  }

  private async countReaders(): Promise<void> {
    const count = await this.stream.readers();
    if (this.isOver) return;
    const now = performance.now();
    if (count > 0) this.lastReaderAt = now;
    if (now - this.lastReaderAt < this.detachedMs) {
      this.countReadersLater();
      return;
    }
    this.left.abort();
    this.parts?.stop(CLIENT_GONE);
  }
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
