import { write, writeSync } from 'node:fs';

/** In UTF-16 units. */
const MAX_UNWRITTEN_LENGTH = 16 * 1024 * 1024;
/** Lines are written together: at this length, or after this time. A write per line costs more than the line itself. */
const WRITE_LENGTH = 4 * 1024;
const WRITE_AFTER_MS = 10;
/** The pause before the next try when the reader of a pipe is slow. */
const RETRY_AFTER_MS = 50;
/** How long the end of the process waits for such a reader. */
const MAX_EXIT_MS = 1_000;

const STANDARD_OUTPUT = 1;
const EMPTY = Buffer.alloc(0);

/**
 * The output of a production installation. The process writes all lines before it ends. When nothing reads the output, or the disk
 * is full, the service continues, and lines are dropped.
 *
 * The output of pino itself repeats the last write without end when the reader of a pipe has ended or stopped, so that the process
 * never ends.
 */
export class LineOutput {
  /** The lines that no write has taken yet. */
  private waiting = '';
  private isWriting = false;
  /** What a slow reader has not taken yet. */
  private unread: Buffer = EMPTY;
  private timer: NodeJS.Timeout | undefined;
  private readonly flush = (): void => {
    this.timer = undefined;
    if (this.isWriting || this.waiting === '') return;
    this.isWriting = true;
    this.writeAll(this.takeWaiting());
  };

  constructor() {
    process.once('exit', () => {
      this.writeWaitingNow();
    });
  }

  write(line: string): void {
    if (this.waiting.length + line.length > MAX_UNWRITTEN_LENGTH) return;
    this.waiting += line;
    if (this.waiting.length >= WRITE_LENGTH && !this.isWriting) this.flush();
    else this.timer ??= setTimeout(this.flush, WRITE_AFTER_MS).unref();
  }

  private takeWaiting(): Buffer {
    const bytes = Buffer.from(this.waiting);
    this.waiting = '';
    return bytes;
  }

  private writeAll(bytes: Buffer): void {
    write(STANDARD_OUTPUT, bytes, (error, written) => {
      // Any other error lasts: the lines are dropped.
      if (error !== null) this.unread = isBusy(error) ? bytes : EMPTY;
      else this.unread = bytes.subarray(written);
      if (this.unread.length > 0) {
        const retry = (): void => {
          this.writeAll(this.unread);
        };
        if (error === null) retry();
        else setTimeout(retry, RETRY_AFTER_MS).unref();
        return;
      }
      this.isWriting = false;
      this.flush();
    });
  }

  private writeWaitingNow(): void {
    const giveUpAt = performance.now() + MAX_EXIT_MS;
    let bytes = Buffer.concat([this.unread, this.takeWaiting()]);
    while (bytes.length > 0) {
      try {
        bytes = bytes.subarray(writeSync(STANDARD_OUTPUT, bytes));
      } catch (error) {
        if (!isBusy(error) || performance.now() > giveUpAt) return;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_AFTER_MS);
      }
    }
  }
}

function isBusy(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EAGAIN';
}
