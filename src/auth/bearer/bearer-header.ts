import type { IncomingMessage } from 'node:http';
import { ServiceError } from '../../platform/common/service-error.js';

const BEARER = /^bearer(?:\s|$)/i;

/** Whether the request has a bearer token, valid or invalid. The session cookie of such a request is ignored. */
export function hasBearerHeader({ headers }: IncomingMessage): boolean {
  return headers.authorization !== undefined && BEARER.test(headers.authorization);
}

export const REALM = 'chat';

/** The value of `WWW-Authenticate` (RFC 6750) for a request without a credential. */
export const CHALLENGE = `Bearer realm="${REALM}"`;

/** The value of `WWW-Authenticate` for a credential that is unknown, expired or revoked. */
export const INVALID_TOKEN_CHALLENGE = `${CHALLENGE}, error="invalid_token"`;

/** The message for a request with such a key. */
export const UNKNOWN_KEY = 'The API key is unknown, expired or revoked.';

/** The error for a request without a valid credential. */
export function unauthenticated(message: string, challenge = CHALLENGE): ServiceError {
  return new ServiceError('unauthenticated', message, { headers: { 'WWW-Authenticate': challenge } });
}
