/** Redis does not answer, or is unavailable. It is unknown whether a command that was sent took effect. */
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
