import { ServiceError } from '../common/service-error.js';

/** Redis does not reply, or is unavailable. It is unknown whether a command that was sent took effect. */
export class RedisUnavailable extends Error {
  constructor(
    message: string,
    /** Whether the command may have reached Redis. */
    readonly wasSent: boolean,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'RedisUnavailable';
  }
}

/** Whether Redis does not know the script, for example after a restart. Redis is available then, and needs the source. */
export function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}

/** Error replies that every write gets: Redis is starting, is a replica, is full, or does not allow the commands. */
const OUTAGE_REPLIES =
  /^(?:ERR The user executing the script can't|READONLY|LOADING|MASTERDOWN|CLUSTERDOWN|OOM|MISCONF|NOREPLICAS|NOAUTH|NOPERM|WRONGPASS|BUSY|UNKILLABLE)\b/;

/** Whether the error reply means that Redis is of no use for the moment, and not only for this command. */
export function isOutageReply({ message }: Error): boolean {
  return OUTAGE_REPLIES.test(message);
}

export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return reasonOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}

const RETRY_AFTER_SECONDS = 1;

/** Redis is available, but did not reply in time. It is unknown whether a command that was sent took effect. */
export class RedisTimeout extends ServiceError {
  constructor(
    /** Whether the command may have reached Redis. */
    readonly wasSent: boolean,
    cause?: unknown,
  ) {
    super('unavailable', 'The service is too busy right now. Try again in a moment.', {
      cause,
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
    this.name = 'RedisTimeout';
  }
}

/** Whether a command has certainly had no effect. */
export function wasNotSent(error: unknown): boolean {
  return (error instanceof RedisUnavailable || error instanceof RedisTimeout) && !error.wasSent;
}
