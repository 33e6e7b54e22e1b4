import { describe, expect, it } from 'vitest';
import { httpFailure } from '../../../src/upstreams/protocols/shared/http-failure.js';

const reasonOf = (status: number, body: unknown): string =>
  (httpFailure(status, {}, JSON.stringify(body)).cause as Error).message;

describe('what is logged of a provider that refuses by a status', () => {
  it('is the status and the labels that are known', () => {
    expect(reasonOf(400, { error: { type: 'invalid_request_error', code: 'context_length_exceeded' } })).toBe(
      'HTTP 400 invalid_request_error context_length_exceeded',
    );
  });

  it.each([
    ['as the type', { error: { type: 'Please summarise my secret diary' } }],
    ['as the code', { error: { code: 'secret' } }],
    ['as the status', { error: { status: 'my secret' } }],
    ['in the metadata', { error: { metadata: { error_type: 'secret' } } }],
    ['without an envelope', { type: 'secret', code: 'secret' }],
  ])('holds nothing that the provider says in its own words, %s', (_, body) => {
    expect(reasonOf(422, body)).toBe('HTTP 422 other');
  });

  it.each(['a secret text', ['secret'], { message: 'secret', error: { message: 'secret' } }])(
    'holds nothing of a body without labels: %o',
    (body) => {
      expect(reasonOf(500, body)).toBe('HTTP 500');
    },
  );
});
