import type { StreamLog } from '../../log/stream-log.js';
import type { Restored, StreamState } from './stream-scripts.js';

/** Text is written after this time, or as soon as there is a batch. In milliseconds and UTF-16 units. */
const WRITE_AFTER_MS = 50;
const BATCH_LENGTH = 4 * 1024;
/** The most text of one entry. */
const ENTRY_LENGTH = 64 * 1024;
const RETRY_AFTER_MS = 500;

export interface WriterTarget {
  /** @param isLast whether the entry also has the ending. */
  write(offset: number, text: string, isLast: boolean): Promise<StreamState>;
  /** Creates the stream anew. */
  restore(state: 'waiting' | 'running'): Promise<Restored>;
  /** Called when another replica has ended the stream, because it took this one for dead. */
  fenced(): void;
  /** Called when nothing more is to be written. */
  over(): void;
}

/** Writes the log of a stream to Redis in batches, in order, one batch at a time. Retries until the stream expires. */
export class LogWriter {
  /** Resolves when nothing more is to be written. */
  readonly done: Promise<void>;
  private finish!: () => void;
  private written = 0;
  private hasWritten = false;
  private isOver = false;
  private isWriting = false;
  private isLost = false;
  /** True while the next attempt waits, because Redis is unavailable or slow. */
  private isWaiting = false;
  private timer: NodeJS.Timeout | undefined;
  private endedAt: number | undefined;
  private readonly unfollow: () => void;

  /** @param keepMs how long after the end of the log a write makes sense. */
  constructor(
    private readonly log: StreamLog,
    private readonly target: WriterTarget,
    private readonly keepMs: number,
  ) {
    this.done = new Promise((resolve) => {
      this.finish = resolve;
    });
    this.unfollow = log.follow(() => {
      this.check();
    });
  }

  /** Writes everything again, because Redis may have lost the stream. */
  writeAnew(): void {
    this.isLost = true;
    this.check();
  }

  /** Writes nothing more. */
  stop(): void {
    if (this.isOver) return;
    this.isOver = true;
    clearTimeout(this.timer);
    this.unfollow();
    this.target.over();
    this.finish();
  }

  private check(): void {
    if (this.isWriting || this.isWaiting || this.isOver) return;
    const { log } = this;
    const isUrgent =
      this.isLost || log.ending !== undefined || !this.hasWritten || log.length - this.written >= BATCH_LENGTH;
    this.writeAfter(isUrgent ? 0 : WRITE_AFTER_MS);
  }

  private writeAfter(delayMs: number): void {
    if (delayMs === 0) {
      clearTimeout(this.timer);
      this.isWriting = true;
      // The texts of this turn of the event loop are one batch.
      queueMicrotask(() => void this.write());
      return;
    }
    this.timer ??= setTimeout(() => {
      this.isWriting = true;
      void this.write();
    }, delayMs).unref();
  }

  private async write(): Promise<void> {
    this.timer = undefined;
    this.isWaiting = false;
    const isStored = await this.writeBatch().catch(() => false);
    this.isWriting = false;
    if (this.isOver) return;
    if (isStored) {
      if (this.isLost || this.log.ending !== undefined || this.log.length > this.written) this.check();
      return;
    }
    // Redis is unavailable or slow.
    this.endedAt ??= this.log.ending === undefined ? undefined : performance.now();
    if (this.endedAt !== undefined && performance.now() - this.endedAt > this.keepMs) this.stop();
    else {
      this.isWaiting = true;
      this.writeAfter(RETRY_AFTER_MS);
    }
  }

  private async writeBatch(): Promise<boolean> {
    if (this.isLost && !(await this.restore())) return true;
    const { log, written } = this;
    if (!log.hasBegun) {
      // There is nothing to write of what ends before it begins.
      if (log.ending !== undefined) this.stop();
      return true;
    }
    const text = this.textFrom(written);
    const isLast = log.ending !== undefined && written + text.length >= log.length;
    switch (await this.target.write(written, text, isLast)) {
      case 'ok':
        this.hasWritten = true;
        this.written = written + text.length;
        if (isLast) this.stop();
        return true;
      case 'ended':
        this.stop();
        this.target.fenced();
        return true;
      case 'gone':
        await this.restore();
        return true;
    }
  }

  private async restore(): Promise<boolean> {
    const restored = await this.target.restore(this.log.hasBegun ? 'running' : 'waiting');
    this.isLost = false;
    this.written = 0;
    if (restored !== 'ok') this.stop();
    if (restored === 'ended') this.target.fenced();
    return restored === 'ok';
  }

  private textFrom(offset: number): string {
    let text = '';
    // At least two units, so that no code point is divided.
    while (ENTRY_LENGTH - text.length > 1) {
      const more = this.log.read(offset + text.length, ENTRY_LENGTH - text.length);
      if (more === undefined) break;
      text += more;
    }
    return text;
  }
}
