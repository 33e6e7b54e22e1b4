import { ImATeapotException, NotImplementedException } from '@nestjs/common';
import { expect, it } from 'vitest';
import { toServiceError } from '../../../../../src/platform/http/errors/to-service-error.js';

it.each<[string, unknown, string]>([
  ['of middleware that the client may see', { status: 413, expose: true }, 'payload_too_large'],
  ['of middleware that the client may not see', { status: 404, expose: false }, 'internal_error'],
  ['with the status of another server', { status: 401 }, 'internal_error'],
  ['of the framework about the request', new ImATeapotException(), 'invalid_request'],
  ['of the framework about the service', new NotImplementedException('secret'), 'internal_error'],
])('an error %s has the right code, and a message of the service', (_, thrown, code) => {
  const error = toServiceError(thrown);
  expect(error).toMatchObject({ code, cause: thrown });
  expect(error.message).not.toContain('secret');
});
