import { codeOf } from '../database-error.js';

/** The operating system says that the server cannot be reached, or that the connection is gone. */
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
/** PostgreSQL says that it stops, has crashed, or is starting. */
const SERVER_STOPS = new Set(['57P01', '57P02', '57P03']);
const CONNECTION_EXCEPTION = /^08[0-9A-Z]{3}$/;
/** The client library says that the connection ended. It gives these errors no code. */
const CLIENT_MESSAGES = ['Connection terminated', 'Client has encountered a connection error', 'Client was closed'];

/**
 * Whether a query or a login failed because the connection was refused or lost. Every other failure, such as a full
 * pool, a timeout or too many connections, says that the database is there: load can cause those.
 */
export function isLostConnection(error: unknown): boolean {
  const code = codeOf(error);
  if (code !== undefined) {
    return NETWORK_FAILURES.has(code) || SERVER_STOPS.has(code) || CONNECTION_EXCEPTION.test(code);
  }
  return error instanceof Error && CLIENT_MESSAGES.some((message) => error.message.startsWith(message));
}
