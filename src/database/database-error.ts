/** The database cannot be used at start-up. `message` is one line for the operator and contains no password. */
export class DatabaseError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'DatabaseError';
  }
}

/** Returns the error code of the operating system, SQLite or PostgreSQL, such as `EACCES`, `SQLITE_BUSY` or `23505`. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { code, driverError } = error as { code?: unknown; driverError?: unknown };
  return codeOf(driverError) ?? (typeof code === 'string' ? code : undefined);
}
