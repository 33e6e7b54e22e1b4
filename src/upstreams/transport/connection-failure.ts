import { ServiceError } from '../../platform/common/service-error.js';
import { ProviderFailure } from '../contract/provider-failure.js';

const TIMED_OUT = new Set(['UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT']);
/** The whole upstream is unreachable: no model of the upstream can answer. Failures of TLS are in this group, too. */
const UNREACHABLE =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|CERT_.+|.*_CERT(?:_.+)?|ERR_TLS_.+|EPROTO)$/;
/** The request is invalid for undici. The protocol has created the request, so this is a fault of the protocol. */
const INVALID_REQUEST = 'UND_ERR_INVALID_ARG';

/** Converts a failure of undici to the error for the caller. */
export function failureOfConnection(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  const { code = '' } = error as { readonly code?: string };
  if (code === INVALID_REQUEST) return unexpectedFailure(error);
  if (TIMED_OUT.has(code)) {
    const message = 'The service could not connect to the provider in time.';
    return new ProviderFailure('upstream_timeout', message, { cause: error, scope: 'upstream' });
  }
  const scope = UNREACHABLE.test(code) ? 'upstream' : 'route';
  return new ProviderFailure('upstream_error', 'The connection to the provider failed.', {
    cause: error,
    scope,
    failureCause: { kind: 'connection' },
  });
}

/** Converts an error that no provider has caused. `error` is logged, but never sent to the client. */
export function unexpectedFailure(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  const ofConnection = failureInFetch(error);
  if (ofConnection !== undefined) return failureOfConnection(ofConnection);
  return new ServiceError('internal_error', 'Something went wrong on our side.', { cause: error });
}

/** Returns the failure of a connection that `fetch` has wrapped in a TypeError. Other TypeErrors are faults in the code. */
function failureInFetch(error: unknown): unknown {
  if (!(error instanceof TypeError) || !(error.cause instanceof Error)) return undefined;
  const { cause } = error;
  if (cause instanceof ServiceError) return cause;
  const { code } = cause as { readonly code?: unknown };
  return typeof code === 'string' && !code.startsWith('ERR_INVALID') ? cause : undefined;
}
