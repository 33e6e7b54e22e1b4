export const REALM = 'chat';

/** The value of `WWW-Authenticate` (RFC 6750) for a request without a credential. */
export const CHALLENGE = `Bearer realm="${REALM}"`;

/** The value of `WWW-Authenticate` for a credential that is unknown, expired or revoked. */
export const INVALID_TOKEN_CHALLENGE = `${CHALLENGE}, error="invalid_token"`;
