import { ServiceError } from '../../plugin-api/core/common.js';

/** The codes of jose and openid-client for a token or an answer that the issuer did not make for this sign-in. */
const INVALID =
  /^(?:OAUTH_(?:JWT_\w+|JSON_ATTRIBUTE_\w+|INVALID_RESPONSE|KEY_SELECTION_\w+)|ERR_JW[ST]_\w+|ERR_JWKS_\w+_MATCHING_KEYS?|ERR_JOSE_(?:NOT_SUPPORTED|ALG_NOT_ALLOWED))$/;
const RETRY_AFTER_SECONDS = 5;

/** The members of the errors of jose, openid-client and fetch. */
interface IssuerError {
  readonly code?: unknown;
  /** The error code with which the issuer has answered. */
  readonly error?: unknown;
  readonly message?: unknown;
  readonly cause?: { readonly code?: unknown; readonly message?: unknown };
}

/** Converts an error of a sign-in at the issuer to the error that the person sees. Returns a `ServiceError` unchanged. */
export function signOnFailure(cause: unknown): ServiceError {
  if (cause instanceof ServiceError) return cause;
  const { code, error } = cause as IssuerError;
  if (code === 'OAUTH_AUTHORIZATION_RESPONSE_ERROR') {
    return error === 'server_error' || error === 'temporarily_unavailable'
      ? unavailable(cause)
      : new ServiceError('forbidden', 'Your organization did not sign you in.', { cause });
  }
  if (code === 'OAUTH_RESPONSE_BODY_ERROR' && error === 'invalid_grant') {
    return new ServiceError('invalid_request', 'This sign-in was used already, or has expired.', { cause });
  }
  if (isInvalid(cause)) {
    return new ServiceError('forbidden', 'The answer of your organization is invalid, so you are not signed in.', {
      cause,
    });
  }
  return unavailable(cause);
}

/** Whether a token or an answer is invalid, instead of the issuer being unavailable. */
export function isInvalid(error: unknown): boolean {
  return INVALID.test(String((error as IssuerError).code));
}

/** The reason for the log, without what the issuer has sent. */
export function signOnFailureReason(failure: unknown): string {
  const { code, error, message, cause } = failure as IssuerError;
  return [code, error, message, cause?.code, cause?.message].filter((part) => typeof part === 'string').join(': ');
}

function unavailable(cause: unknown): ServiceError {
  return new ServiceError('unavailable', 'Your organization does not answer, so you cannot sign in there right now.', {
    cause,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
