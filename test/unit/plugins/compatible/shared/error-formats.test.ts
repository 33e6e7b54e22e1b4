import { describe, expect, it } from 'vitest';
import { ServiceError, type BuiltInErrorCode } from '../../../../../src/platform/common/service-error.js';
import { openAiError } from '../../../../../src/plugins/compatible/shared/error-formats.js';
import { providerFailure } from '../../../../../src/upstreams/contract/provider-failure.js';

describe('an error in the format of OpenAI', () => {
  const codes: readonly (readonly [BuiltInErrorCode, type: string, code: string])[] = [
    ['unauthenticated', 'authentication_error', 'invalid_api_key'],
    ['key_revoked', 'authentication_error', 'invalid_api_key'],
    ['quota_exceeded', 'rate_limit_error', 'insufficient_quota'],
    ['budget_exceeded', 'rate_limit_error', 'insufficient_quota'],
    ['rate_limit_exceeded', 'rate_limit_error', 'rate_limit_exceeded'],
    ['forbidden', 'permission_error', 'forbidden'],
    ['model_not_found', 'invalid_request_error', 'model_not_found'],
    ['upstream_rejected', 'invalid_request_error', 'upstream_rejected'],
    ['upstream_unavailable', 'server_error', 'upstream_unavailable'],
  ];
  it.each(codes)('of %s has the type %s and the code %s', (code, type, shown) => {
    expect(openAiError(new ServiceError(code, 'Why.')).error).toEqual({
      ...{ message: 'Why.', type, param: null, code: shown },
    });
  });

  it('has the code context_length_exceeded only for a prompt that the provider finds too long', () => {
    const codeOf = (isPromptTooLong: boolean) =>
      openAiError(providerFailure('upstream_rejected', 'HTTP 400', { isPromptTooLong })).error.code;
    expect(codeOf(true)).toBe('context_length_exceeded');
    expect(codeOf(false)).toBe('upstream_rejected');
  });
});
