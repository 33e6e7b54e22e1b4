import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../../src/platform/common/service-error.js';
import { ProviderFailure } from '../../../../src/upstreams/contract/provider-failure.js';
import { failureOfConnection, unexpectedFailure } from '../../../../src/upstreams/transport/connection-failure.js';

const OWN = new ServiceError('unavailable', 'All connections are in use.');

const withCode = (code: unknown) => Object.assign(new Error(`It failed: ${String(code)}`), { code });

describe('a failure of a connection', () => {
  it.each(['UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT'])('with %s is a timeout of the whole upstream', (code) => {
    const cause = withCode(code);
    const failure = failureOfConnection(cause);
    expect(failure).toBeInstanceOf(ProviderFailure);
    expect(failure).toMatchObject({
      code: 'upstream_timeout',
      scope: 'upstream',
      message: 'The service could not connect to the provider in time.',
    });
    expect(failure.cause).toBe(cause);
  });

  it.each([
    'ECONNREFUSED',
    'ENOTFOUND',
    'EAI_AGAIN',
    'EHOSTUNREACH',
    'ENETUNREACH',
    'CERT_HAS_EXPIRED',
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'SELF_SIGNED_CERT_IN_CHAIN',
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'EPROTO',
  ])('with %s is an error of the whole upstream', (code) => {
    expect(failureOfConnection(withCode(code))).toMatchObject({ code: 'upstream_error', scope: 'upstream' });
  });

  it.each([
    'ECONNRESET',
    'UND_ERR_SOCKET',
    'UND_ERR_HEADERS_OVERFLOW',
    'NOT_ECONNREFUSED',
    'ECONNREFUSED_NOT',
    'CERT_',
    'ERR_TLS_',
    undefined,
  ])('with %s is an error of the route alone', (code) => {
    const cause = withCode(code);
    const failure = failureOfConnection(cause);
    expect(failure).toBeInstanceOf(ProviderFailure);
    expect(failure).toMatchObject({
      code: 'upstream_error',
      scope: 'route',
      message: 'The connection to the provider failed.',
    });
    expect(failure.cause).toBe(cause);
  });

  it('is a fault of the protocol if the request is invalid', () => {
    const cause = withCode('UND_ERR_INVALID_ARG');
    const failure = failureOfConnection(cause);
    expect(failure).not.toBeInstanceOf(ProviderFailure);
    expect(failure).toMatchObject({ code: 'internal_error' });
    expect(failure.cause).toBe(cause);
  });

  it('stays what the service has said', () => {
    expect(failureOfConnection(OWN)).toBe(OWN);
  });
});

describe('an unexpected failure', () => {
  const ofFetch = (cause: unknown) => new TypeError('fetch failed', { cause });

  it('stays what the service has said, in `fetch`, too', () => {
    expect(unexpectedFailure(OWN)).toBe(OWN);
    expect(unexpectedFailure(ofFetch(OWN))).toBe(OWN);
  });

  it.each([
    ['ECONNREFUSED', 'upstream_error'],
    ['ETIMEDOUT', 'upstream_timeout'],
    ['NOT_ERR_INVALID', 'upstream_error'],
  ])('of `fetch` with %s is one of the connection', (code, expected) => {
    const cause = withCode(code);
    const failure = unexpectedFailure(ofFetch(cause));
    expect(failure).toBeInstanceOf(ProviderFailure);
    expect(failure).toMatchObject({ code: expected, cause });
  });

  it.each([
    ['an error that is no TypeError', Object.assign(new Error('?', { cause: withCode('ECONNREFUSED') }))],
    ['a bug', new TypeError('a bug')],
    ['a bug whose cause is no error', ofFetch({ code: 'ECONNREFUSED' })],
    ['an error without a code', ofFetch(new Error('?'))],
    ['an error whose code is a number', ofFetch(withCode(7))],
    ['a URL that is invalid', ofFetch(withCode('ERR_INVALID_URL'))],
    ['no error at all', 'oops'],
  ])('from %s is internal', (_, error) => {
    const failure = unexpectedFailure(error);
    expect(failure).not.toBeInstanceOf(ProviderFailure);
    expect(failure).toMatchObject({ code: 'internal_error' });
    expect(failure.cause).toBe(error);
  });
});
