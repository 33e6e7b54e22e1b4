import type { LoggerService } from '@nestjs/common';
import { pino, type DestinationStream, type Logger } from 'pino';
import { createRequire } from 'node:module';
import { write, writeSync } from 'node:fs';
import type { LogLevel } from '../config/config.js';
import { elapsedMs, startTimer } from '../common/timers/pace.js';

/** In UTF-16 units. */
const MAX_UNWRITTEN_LENGTH = 16 * 1024 * 1024;
/** Lines are written together: at this length, or after this time. A write per line costs more than the line itself. */
const WRITE_LENGTH = 32 * 1024;
const WRITE_AFTER_MS = 40;
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
class LineOutput {
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
    else this.timer ??= startTimer(this.flush, WRITE_AFTER_MS).unref();
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
        else startTimer(retry, RETRY_AFTER_MS).unref();
        return;
      }
      this.isWriting = false;
      this.flush();
    });
  }

  private writeWaitingNow(): void {
    const giveUpAt = elapsedMs() + MAX_EXIT_MS;
    let bytes = Buffer.concat([this.unread, this.takeWaiting()]);
    while (bytes.length > 0) {
      try {
        bytes = bytes.subarray(writeSync(STANDARD_OUTPUT, bytes));
      } catch (error) {
        if (!isBusy(error) || elapsedMs() > giveUpAt) return;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_AFTER_MS);
      }
    }
  }
}

function isBusy(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EAGAIN';
}

/** The contexts of Nest's messages about its own start. They only help when the modules have a problem. */
const FRAMEWORK_CONTEXTS = new Set([
  'NestFactory',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestApplication',
]);
/** The contexts of startup failures in Nest. They are skipped, because the starting code reports each failure in one line. */
const STARTUP_FAILURES = new Set<string | undefined>(['ExceptionHandler', 'NestApplication']);

/** Nest's logger, implemented with pino. Each entry is a line of JSON, or readable text on a terminal. */
export class ServiceLogger implements LoggerService {
  private readonly pino: Logger;
  private readonly byContext = new Map<string, Logger>();

  constructor(level: LogLevel) {
    const options = {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: shownError },
    };
    this.pino = pino(options, (process.stdout.isTTY ? prettyStream() : undefined) ?? new LineOutput());
  }

  setLevel(level: LogLevel): void {
    this.pino.level = level;
    this.byContext.clear();
  }

  log(message: unknown, ...context: unknown[]): void {
    const name = contextOf(context);
    this.write(name !== undefined && FRAMEWORK_CONTEXTS.has(name) ? 'debug' : 'info', message, name);
  }

  error(message: unknown, ...context: unknown[]): void {
    const name = contextOf(context);
    if (STARTUP_FAILURES.has(name)) return;
    const [stack] = context.length > 1 ? context : [];
    this.write('error', message, name, typeof stack === 'string' ? stack : undefined);
  }

  warn(message: unknown, ...context: unknown[]): void {
    this.write('warn', message, contextOf(context));
  }

  debug(message: unknown, ...context: unknown[]): void {
    this.write('debug', message, contextOf(context));
  }

  verbose(message: unknown, ...context: unknown[]): void {
    this.write('trace', message, contextOf(context));
  }

  private write(
    level: 'error' | 'warn' | 'info' | 'debug' | 'trace',
    message: unknown,
    context?: string,
    stack?: string,
  ): void {
    const logger = context === undefined ? this.pino : this.named(context);
    const trace = stack === undefined ? undefined : { stack };
    if (message instanceof Error) logger[level]({ ...trace, err: message }, message.message);
    // Pass the message itself: a copy would cost more than writing the line.
    else if (typeof message === 'object' && message !== null) logger[level](trace ? { ...trace, ...message } : message);
    else if (trace === undefined) logger[level](String(message));
    else logger[level](trace, String(message));
  }

  private named(context: string): Logger {
    let logger = this.byContext.get(context);
    if (logger === undefined) this.byContext.set(context, (logger = this.pino.child({ context })));
    return logger;
  }
}

/** Creates readable output for developers. A production installation does not have this package and keeps JSON. */
function prettyStream(): DestinationStream | undefined {
  try {
    const pretty = createRequire(import.meta.url)('pino-pretty') as typeof import('pino-pretty');
    return pretty({ sync: true });
  } catch {
    return undefined;
  }
}

/** Returns the name of the logger. Nest passes it as the last argument. */
function contextOf(context: readonly unknown[]): string | undefined {
  const last = context.at(-1);
  return typeof last === 'string' ? last : undefined;
}

/** The maximum number of nested causes in a log entry. Code rarely wraps an error more often. */
const MAX_CAUSES = 3;

interface ShownError {
  readonly type: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string | undefined;
  readonly cause?: ShownError;
}

/**
 * Returns the members of an error for the log. Leaves out all other members, because they can contain private data:
 * database errors contain the data to be written, and parser errors contain the unreadable input.
 */
export function shownError(error: Error, depth = 0): ShownError {
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown };
  return {
    type: error.name,
    message: error.message,
    ...(typeof code === 'string' ? { code } : {}),
    ...(depth === 0 ? { stack: error.stack } : {}),
    ...(cause instanceof Error && depth < MAX_CAUSES ? { cause: shownError(cause, depth + 1) } : {}),
  };
}
