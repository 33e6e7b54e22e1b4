import { describe, expect, it } from 'vitest';
import { httpFailure, retryAfterSeconds } from '../../../../../src/upstreams/protocols/shared/reported-failure.js';

const reasonOf = (status: number, body: unknown): string =>
  (httpFailure(status, {}, JSON.stringify(body)).cause as Error).message;

describe('what is logged of a provider that refuses by a status', () => {
  it('is the status and the labels that are identifiers', () => {
    expect(reasonOf(400, { error: { type: 'invalid_request_error', code: 'context_length_exceeded' } })).toBe(
      'HTTP 400 invalid_request_error context_length_exceeded',
    );
  });

  it.each([
    ['as the type', { error: { type: 'Please summarise my secret diary' } }],
    ['as the code', { error: { code: 'secret 7' } }],
    ['as the status', { error: { status: 'my secret' } }],
    ['in the metadata', { error: { metadata: { error_type: 'a secret' } } }],
    ['without an envelope', { type: 'a secret', code: 'hunter2' }],
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

describe('the error of a provider that refuses by a status', () => {
  it.each([
    [401, {}, 'upstream'],
    [402, {}, 'upstream'],
    [400, {}, 'route'],
    [400, { error: { code: 'invalid_api_key' } }, 'upstream'],
  ])('of %d with %o is of the %s', (status, body, scope) => {
    expect(httpFailure(status, {}, JSON.stringify(body)).scope).toBe(scope);
  });

  it.each(['7', ['7', '9']])('reports when to retry, if the provider says so: %o', (header) => {
    expect(httpFailure(429, { 'retry-after': header }, '{}')).toMatchObject({
      code: 'upstream_unavailable',
      retryAfterSeconds: 7,
    });
  });

  it('reports no time without a header', () => {
    expect(httpFailure(429, {}, '{}').retryAfterSeconds).toBeUndefined();
  });

  it.each([400, 401, 500, 504])('reports no time where the provider is not overloaded: %d', (status) => {
    expect(httpFailure(status, { 'retry-after': '7' }, '{}').retryAfterSeconds).toBeUndefined();
  });
});

describe('an answer with status 200 that is not a stream', () => {
  it('is what its error says, in an envelope or not', () => {
    const error = { type: 'overloaded_error' };
    for (const body of [{ error }, error])
      expect(httpFailure(200, {}, JSON.stringify(body)).code).toBe('upstream_unavailable');
  });

  it('is an error of the provider where it is not JSON', () => {
    const failure = httpFailure(200, {}, '<html>');
    expect([failure.code, (failure.cause as Error).message]).toEqual([
      'upstream_error',
      'The response is not a stream.',
    ]);
  });

  it.each([
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 190031 tokens.",
    'prompt is too long: 210000 tokens > 200000 maximum',
    'The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).',
    'the request exceeds the available context size, try increasing it',
  ])('says that the prompt is too long: %s', (message) => {
    const failure = httpFailure(400, {}, JSON.stringify({ error: { message } }));
    expect(failure).toMatchObject({ code: 'upstream_rejected', isPromptTooLong: true });
    expect(failure.message).toBe('The provider rejected the request: the prompt is too long for the model.');
    expect(httpFailure(500, {}, JSON.stringify({ error: { message } })).message).toBe('The provider failed.');
  });
});

const NOW = Date.UTC(1994, 10, 6, 8, 49, 0);

describe('the Retry-After of a provider', () => {
  it.each([
    ['0', 0],
    ['7', 7],
    [' 42 ', 42],
    ['3600', 3_600],
    ['3601', 3_600],
    ['31536000', 3_600],
    ['9'.repeat(1_000), 3_600],
    ['Sun, 06 Nov 1994 08:49:37 GMT', 37],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 37],
    ['Sun Nov  6 08:49:37 1994', 37],
    ['Mon, 06 Nov 1995 08:49:37 GMT', 3_600],
  ])('%j means %d seconds', (sent, seconds) => {
    expect(retryAfterSeconds(sent, NOW)).toBe(seconds);
  });

  it.each([
    undefined,
    '',
    'soon',
    '-1',
    '2.5',
    '1e3',
    '0x10',
    '7, 8',
    '1994-11-06T08:49:37Z',
    'Sun, 06 Nov 1994 08:48:59 GMT',
    'Sun, x',
    'Sun',
    `Sun, ${' '.repeat(10_000)}06 Nov 1994 08:49:37 GMT`,
  ])('is nothing where it is %j', (sent) => {
    expect(retryAfterSeconds(sent, NOW)).toBeUndefined();
  });
});
