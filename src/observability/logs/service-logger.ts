import type { LoggerService } from '@nestjs/common';
import { pino, type DestinationStream, type Logger } from 'pino';
import { createRequire } from 'node:module';
import type { LogLevel } from '../../config/config.js';
import { shownError } from './shown-error.js';

/** What Nest says about its own start; of interest when something is wrong with the modules only. */
const FRAMEWORK_CONTEXTS = new Set([
  'NestFactory',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestApplication',
]);
/** Says again, at length, what is thrown at whoever starts the application, who tells it in a line. */
const STARTUP_FAILURES = 'ExceptionHandler';

/** Nest's logger on pino: a JSON line for each entry, or readable ones on a terminal. */
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
    const readable = process.stdout.isTTY ? prettyStream() : undefined;
    // Lines that come while others are being written go out together with the next ones; the end of the process waits for them.
    this.pino = pino(options, readable ?? pino.destination({ dest: 1, sync: false }));
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
    if (name === STARTUP_FAILURES) return;
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
    // As it is: a copy would cost a line more than writing it.
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

/** For people who develop: an installation for production has no such package, and goes on with JSON. */
function prettyStream(): DestinationStream | undefined {
  try {
    const pretty = createRequire(import.meta.url)('pino-pretty') as typeof import('pino-pretty');
    return pretty({ sync: true });
  } catch {
    return undefined;
  }
}

/** Nest passes the name of the logger last. */
function contextOf(context: readonly unknown[]): string | undefined {
  const last = context.at(-1);
  return typeof last === 'string' ? last : undefined;
}
