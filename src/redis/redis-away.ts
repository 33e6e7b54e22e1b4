/** Redis does not answer, or cannot be used now. Nothing is known of whether a command that was sent took effect. */
export class RedisAway extends Error {
  constructor(
    message: string,
    /** Whether the command may have reached Redis all the same. */
    readonly wasSent: boolean,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'RedisAway';
  }
}

/** Redis has forgotten the script, as after a restart: it is there, and wants the source. */
export function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}
