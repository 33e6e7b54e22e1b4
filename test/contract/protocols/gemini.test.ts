import { describe, expect, it } from 'vitest';
import { GeminiProtocol, type GeminiOptions } from '../../../src/upstreams/protocols/gemini/gemini.js';
import { describeProtocol } from '../../../src/testing/protocols/describe-protocol.js';
import { TEST_CALL as HELLO, TEST_UPSTREAM as ACME } from '../../../src/testing/protocols/samples.js';
import { fixturesOf } from './fixtures.js';

const protocol = new GeminiProtocol();

const VOCABULARY = [
  ...[
    'candidates',
    'content',
    'parts',
    'text',
    'thought',
    'thoughtSignature',
    'functionCall',
    'role',
    'model',
    'index',
  ],
  ...['finishReason', 'STOP', 'MAX_TOKENS', 'SAFETY', 'OTHER', 'MALFORMED_FUNCTION_CALL', 'promptFeedback'],
  ...['blockReason', 'usageMetadata', 'promptTokenCount', 'candidatesTokenCount', 'thoughtsTokenCount'],
  ...['cachedContentTokenCount', 'error', 'code', 'status', 'UNAVAILABLE', 'details', 'reason', 'retryDelay', '34s'],
  ...['toString', 'valueOf', '__proto__'],
];

describeProtocol({
  protocol,
  answers: fixturesOf('gemini'),
  vocabulary: VOCABULARY,
  body: { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] },
});

const asking = (call: Partial<typeof HELLO> = {}, options: GeminiOptions = {}) =>
  protocol.request({ ...HELLO, ...call }, { ...ACME, options });

const bodyOf = (call: Partial<typeof HELLO>, options: GeminiOptions = {}) =>
  JSON.parse(asking(call, options).body) as unknown;

const partsOf = (event: object) => protocol.open().parts({ event: 'message', data: JSON.stringify(event) });

describe('GeminiProtocol.request', () => {
  it('sends the key in a header of its own', () => {
    const { headers } = asking();
    expect(headers).toMatchObject({ 'x-goog-api-key': 'secret-key' });
    expect(headers).not.toHaveProperty('authorization');
  });

  it.each([
    ['https://g.example.com', 'https://g.example.com/v1beta/models/fast-1:streamGenerateContent?alt=sse'],
    ['https://g.example.com/', 'https://g.example.com/v1beta/models/fast-1:streamGenerateContent?alt=sse'],
    ['https://g.example.com/v1beta', 'https://g.example.com/v1beta/models/fast-1:streamGenerateContent?alt=sse'],
    ['https://g.example.com/v1/', 'https://g.example.com/v1/models/fast-1:streamGenerateContent?alt=sse'],
    [
      'https://g.example.com/v1/publishers/google',
      'https://g.example.com/v1/publishers/google/models/fast-1:streamGenerateContent?alt=sse',
    ],
    [
      'https://gateway.example.com/video?team=a',
      'https://gateway.example.com/video/v1beta/models/fast-1:streamGenerateContent?team=a&alt=sse',
    ],
  ])('at the base URL %s posts to %s', (baseUrl, url) => {
    const upstream = { ...ACME, options: {}, baseUrl: new URL(baseUrl) };
    expect(protocol.request(HELLO, upstream).url.href).toBe(url);
    expect(protocol.request(HELLO, upstream).url.href).toBe(url);
  });

  it('sends system messages apart, and joins neighbouring messages of one role', () => {
    const body = bodyOf({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'One' },
        { role: 'user', content: 'Two' },
        { role: 'assistant', content: 'Yes' },
        { role: 'system', content: 'Be kind.' },
        { role: 'assistant', content: 'No' },
        { role: 'user', content: 'Three' },
      ],
    });
    expect(body).toMatchObject({
      systemInstruction: { parts: [{ text: 'Be brief.' }, { text: 'Be kind.' }] },
      contents: [
        { role: 'user', parts: [{ text: 'One' }, { text: 'Two' }] },
        { role: 'model', parts: [{ text: 'Yes' }, { text: 'No' }] },
        { role: 'user', parts: [{ text: 'Three' }] },
      ],
    });
  });

  it('sends only what is set', () => {
    expect(bodyOf({ options: {} })).toStrictEqual({
      contents: [{ role: 'user', parts: [{ text: 'Hello' }] }],
      generationConfig: {},
    });
    expect(bodyOf({ options: { temperature: 0 }, maxTokens: 9 }, { thinking_level: 'low' })).toMatchObject({
      generationConfig: { temperature: 0, maxOutputTokens: 9, thinkingConfig: { thinkingLevel: 'low' } },
    });
    expect(bodyOf({ options: {} }, {})).toMatchObject({ generationConfig: {} });
  });

  it('refuses only system messages by name of the field', () => {
    expect(() => asking({ messages: [{ role: 'system', content: 'a' }] })).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        details: [{ field: 'messages', message: expect.any(String) as string }],
      }),
    );
  });
});

describe('the options of an upstream with the protocol gemini', () => {
  it.each([[{}], [{ thinking_level: 'minimal' }]])('may be %j', (options) => {
    expect(protocol.options.safeParse(options).success).toBe(true);
  });

  it.each([[{ thinking_level: 'none' }], [{ thinking_budget: 0 }]])('may not be %j', (options) => {
    expect(protocol.options.safeParse(options).success).toBe(false);
  });
});

describe('GeminiProtocol reading an event', () => {
  const ending = (finishReason: string) => partsOf({ candidates: [{ finishReason, index: 0 }] });

  it.each([
    ['STOP', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['SAFETY', 'content_filter'],
    ['RECITATION', 'content_filter'],
    ['BLOCKLIST', 'content_filter'],
    ['PROHIBITED_CONTENT', 'content_filter'],
    ['SPII', 'content_filter'],
    ['LANGUAGE', 'content_filter'],
    ['BRAND_NEW', 'other'],
  ])('maps the finish reason %s to %s', (raw, reason) => {
    expect(ending(raw)).toEqual([
      { type: 'finish', reason, raw },
      { type: 'complete', last: false },
    ]);
  });

  it.each(['MALFORMED_FUNCTION_CALL', 'MALFORMED_RESPONSE', 'UNEXPECTED_TOOL_CALL', 'OTHER'])(
    'reads the finish reason %s as a failure of the model',
    (raw) => {
      expect(ending(raw)).toMatchObject([{ type: 'error', error: { code: 'upstream_error', scope: 'route' } }]);
    },
  );

  it('counts the thoughts among the tokens of the answer, as the total does', () => {
    const usageMetadata = {
      ...{ promptTokenCount: 1_000, candidatesTokenCount: 30, thoughtsTokenCount: 70, totalTokenCount: 1_100 },
      cachedContentTokenCount: 900,
    };
    expect(partsOf({ usageMetadata })).toEqual([
      {
        type: 'usage',
        usage: { inputTokens: 1_000, cachedInputTokens: 900, outputTokens: 100, reasoningOutputTokens: 70 },
      },
    ]);
  });

  it('adds the prompts for the tools of Gemini to the prompt', () => {
    const usageMetadata = {
      ...{ promptTokenCount: 100, toolUsePromptTokenCount: 40, candidatesTokenCount: 30, totalTokenCount: 170 },
    };
    expect(partsOf({ usageMetadata })).toEqual([{ type: 'usage', usage: { inputTokens: 140, outputTokens: 30 } }]);
  });

  it('does not count an answer that has no counts', () => {
    expect(partsOf({ usageMetadata: { promptTokenCount: 9, totalTokenCount: 9 } })).toEqual([
      { type: 'usage', usage: { inputTokens: 9 } },
    ]);
    expect(partsOf({ usageMetadata: { serviceTier: 'standard' } })).toEqual([]);
  });

  it('reads a part without text as progress', () => {
    const content = { role: 'model', parts: [{ executableCode: { code: '1 + 1' } }] };
    expect(partsOf({ candidates: [{ content }] })).toEqual([{ type: 'progress' }]);
  });

  it.each([
    { candidates: [] },
    { candidates: [{}] },
    { candidates: [{ content: { role: 'model' } }] },
    { candidates: [{ content: { parts: [{ text: '' }] } }] },
    { candidates: [{ index: 1, content: { parts: [{ text: 'second' }] }, finishReason: 'STOP' }] },
    { promptFeedback: { safetyRatings: [] } },
    { modelVersion: 'gemini-3.8-flash' },
  ])('says nothing of %j', (event) => {
    expect(partsOf(event)).toEqual([]);
  });

  it('reads a blocked prompt as a rejected request', () => {
    expect(
      partsOf({ promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: { promptTokenCount: 4 } }),
    ).toMatchObject([
      { type: 'usage', usage: { inputTokens: 4 } },
      { type: 'error', error: { code: 'upstream_rejected' } },
    ]);
  });
});

describe('a failure of Gemini', () => {
  const google = (name: string) => `type.googleapis.com/google.rpc.${name}`;
  const failure = (status: number, label: string, ...details: object[]) => {
    const error = { code: status, message: 'the key sk-secret is blocked', status: label, details };
    return protocol.failure(status, {}, JSON.stringify({ error }, undefined, 2));
  };

  it.each([
    ['34s', 34],
    ['34.4s', 35],
    ['0.004s', 1],
    ['86400s', 3_600],
  ])('that says to wait %s says so to the client, in %d seconds', (retryDelay, retryAfterSeconds) => {
    const quota = { '@type': google('QuotaFailure'), violations: [{ quotaId: 'PerMinute' }] };
    expect(failure(429, 'RESOURCE_EXHAUSTED', quota, { '@type': google('RetryInfo'), retryDelay })).toMatchObject({
      code: 'upstream_unavailable',
      scope: 'route',
      retryAfterSeconds,
      cause: { message: 'HTTP 429 429 RESOURCE_EXHAUSTED' },
    });
  });

  it.each(['', '34', '-1s', '1e3s', 's', 34, null, { seconds: 34 }])(
    'with the time %j is like any other',
    (retryDelay) => {
      expect(failure(429, 'RESOURCE_EXHAUSTED', { '@type': google('RetryInfo'), retryDelay })).toBeUndefined();
    },
  );

  it('about the API key is our fault, and about the whole upstream', () => {
    const details = { '@type': google('ErrorInfo'), reason: 'API_KEY_INVALID', domain: 'googleapis.com' };
    const error = failure(400, 'INVALID_ARGUMENT', details);
    expect(error).toMatchObject({ code: 'upstream_error', scope: 'upstream' });
    expect(`${error?.message} ${String(error?.cause)}`).not.toContain('secret');
  });

  it('about the account is our fault, and about the whole upstream', () => {
    expect(failure(400, 'FAILED_PRECONDITION')).toMatchObject({ code: 'upstream_error', scope: 'upstream' });
  });

  it.each(['', 'Bad Gateway', '[]', '{"error":"x"}', '{"error":{"details":{}}}', '{"error":{"details":[null,7]}}'])(
    'with the body %j is like any other',
    (body) => {
      expect(protocol.failure(502, {}, body)).toBeUndefined();
    },
  );

  it('inside the stream is read in the same way', () => {
    const details = [{ '@type': google('RetryInfo'), retryDelay: '7s' }];
    expect(partsOf({ error: { code: 429, message: 'x', status: 'RESOURCE_EXHAUSTED', details } })).toMatchObject([
      { type: 'error', error: { code: 'upstream_unavailable', retryAfterSeconds: 7 } },
    ]);
    expect(partsOf({ error: { code: 400, message: 'x', status: 'INVALID_ARGUMENT' } })).toMatchObject([
      { type: 'error', error: { code: 'upstream_rejected' } },
    ]);
  });
});
