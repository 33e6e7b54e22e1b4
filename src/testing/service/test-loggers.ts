import type { LoggerService } from '@nestjs/common';

/** The one logger of Nest in a process with several services: passes each message to the loggers of all of them. */
export class TestLoggers implements LoggerService {
  private readonly loggers = new Set<{ readonly logger: LoggerService }>();

  /** @returns a function that removes the logger. */
  add(logger: LoggerService | false): () => void {
    if (logger === false) return () => undefined;
    const added = { logger };
    this.loggers.add(added);
    return () => this.loggers.delete(added);
  }

  log(message: unknown, ...context: unknown[]): void {
    for (const { logger } of this.loggers) logger.log(message, ...context);
  }

  error(message: unknown, ...context: unknown[]): void {
    for (const { logger } of this.loggers) logger.error(message, ...context);
  }

  warn(message: unknown, ...context: unknown[]): void {
    for (const { logger } of this.loggers) logger.warn(message, ...context);
  }

  debug(message: unknown, ...context: unknown[]): void {
    for (const { logger } of this.loggers) logger.debug?.(message, ...context);
  }

  verbose(message: unknown, ...context: unknown[]): void {
    for (const { logger } of this.loggers) logger.verbose?.(message, ...context);
  }

  fatal(message: unknown, ...context: unknown[]): void {
    for (const { logger } of this.loggers) (logger.fatal ?? logger.error).call(logger, message, ...context);
  }
}
