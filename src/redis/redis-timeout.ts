import { ServiceError } from '../common/service-error.js';

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
