export const REALM = 'chat';

/** `WWW-Authenticate` (RFC 6750) where there is no credential. */
export const CHALLENGE = `Bearer realm="${REALM}"`;

/** The same for one that is not, or no longer, valid. */
export const INVALID_TOKEN_CHALLENGE = `${CHALLENGE}, error="invalid_token"`;
