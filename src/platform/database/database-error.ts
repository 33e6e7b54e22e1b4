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

/** Error codes of the operating system: the server is unreachable, or the connection is lost. */
const NETWORK_FAILURES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'ENOTFOUND',
  'EAI_AGAIN',
  // The file of a Unix socket is missing.
  'ENOENT',
]);
/** Error codes of PostgreSQL: the server stops, has crashed, or is starting. */
const SERVER_STOPS = new Set(['57P01', '57P02', '57P03']);
const CONNECTION_EXCEPTION = /^08[0-9A-Z]{3}$/;
/** Messages of the client library: the connection ended. The library gives these errors no code. */
const CLIENT_MESSAGES = ['Connection terminated', 'Client has encountered a connection error', 'Client was closed'];

/**
 * Whether a query or a login failed because the connection was refused or lost. Every other failure, such as a full pool, a
 * timeout or too many connections, means that the database is available: load can cause these failures.
 */
export function isLostConnection(error: unknown): boolean {
  const code = codeOf(error);
  if (code !== undefined) {
    return NETWORK_FAILURES.has(code) || SERVER_STOPS.has(code) || CONNECTION_EXCEPTION.test(code);
  }
  return error instanceof Error && CLIENT_MESSAGES.some((message) => error.message.startsWith(message));
}
