import { createHmac } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { Response } from 'undici';
import { describe, expect, it } from 'vitest';
import { describeProtocol, TEST_CALL, TEST_CONTEXT, TEST_UPSTREAM } from 'chat-streaming-service/testing';
import { AcmeProtocol } from '../../examples/src/acme-protocol.plugin.js';
import { CompanySigner, CompanyToken } from '../../examples/src/company-credentials.plugin.js';
import { FramesProtocol } from '../../examples/src/frames-protocol.plugin.js';
import { GatewayProtocol } from '../../examples/src/gateway-protocol.plugin.js';
import { JobsProtocol } from '../../examples/src/jobs-protocol.plugin.js';
import { LinesProtocol } from '../../examples/src/lines-protocol.plugin.js';

const ACME_ANSWER = [
  'event: token\ndata: {"t":"Hel"}\n\n',
  'event: ping\ndata: \n\n',
  'event: token\ndata: {"t":"lo 👋"}\n\n',
  'event: end\ndata: {"why":"done","in":3,"out":2}\n\n',
].join('');

describeProtocol({
  protocol: new AcmeProtocol(),
  answers: [
    {
      name: 'acme/hello',
      bytes: ACME_ANSWER,
      expected: {
        text: 'Hello 👋',
        complete: true,
        finish: { reason: 'stop', raw: 'done' },
        usage: { inputTokens: 3, outputTokens: 2 },
      },
    },
  ],
  vocabulary: ['t', 'why', 'in', 'out', 'done', 'limit', 'error', 'type', 'toString', '__proto__'],
  body: { model: 'fast-1', turns: [{ role: 'user', content: 'Hello' }], heat: 0.7 },
});

const GATEWAY_ANSWER = [
  ...['"id":"call_1","function":{"name":"weather","arguments":""}', '"function":{"arguments":"{\\"city\\":"}'],
  '"function":{"arguments":"\\"Oslo\\"}"}',
]
  .map((call) => `data: {"choices":[{"delta":{"tool_calls":[{"index":0,${call}}]}}]}\n\n`)
  .concat('data: {"choices":[{"delta":{},"finish_reason":"tool_calls"}]}\n\n', 'data: [DONE]\n\n')
  .join('');

describeProtocol({
  protocol: new GatewayProtocol(),
  answers: [
    {
      name: 'gateway/weather',
      bytes: GATEWAY_ANSWER,
      expected: {
        text: '',
        toolCalls: [{ name: 'weather', json: '{"city":"Oslo"}' }],
        complete: true,
        finish: { reason: 'tool_calls', raw: 'tool_calls' },
      },
    },
  ],
  upstream: { options: { token_url: 'https://gateway.example.com/token' } },
  context: { fetch: () => Promise.resolve(Response.json({ token: 'short-lived' })) },
  hasOwnCredential: true,
});

describeProtocol({
  protocol: new JobsProtocol(),
  answers: [
    {
      name: 'jobs/hello',
      bytes: 'data: {"piece":"Hello"}\n\ndata: {"state":"done"}\n\n',
      expected: { text: 'Hello', complete: true, finish: { reason: 'stop', raw: 'done' } },
    },
  ],
  body: { model: 'fast-1', messages: [{ role: 'user', content: 'Hello' }] },
  context: { fetch: () => Promise.resolve(Response.json({ id: 'job-1' })) },
});

describe('the example protocol with a token', () => {
  const upstream = {
    ...TEST_UPSTREAM,
    baseUrl: new URL('https://gateway.example.com/v1'),
    options: { token_url: 'https://gateway.example.com/token', token_seconds: 600 },
  };

  /** A context whose requests for a token get these answers, one after the other. */
  function contextWith(...answers: (Response | Error)[]) {
    const asked: { readonly url: string; readonly key: unknown }[] = [];
    const fetch: typeof TEST_CONTEXT.fetch = (url, init) => {
      asked.push({ url: String(url), key: (init?.headers as Record<string, unknown>)['x-api-key'] });
      const answer = answers.shift() ?? new Error('There is no further answer.');
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    };
    return { asked, context: { ...TEST_CONTEXT, fetch } };
  }

  it('requests one token, and sends the token with the request of OpenAI', async () => {
    const protocol = new GatewayProtocol();
    const { asked, context } = contextWith(Response.json({ token: 'short-lived' }));

    const requests = [
      await protocol.request(TEST_CALL, upstream, context),
      await protocol.request(TEST_CALL, upstream, context),
    ];

    expect(asked).toEqual([{ url: 'https://gateway.example.com/token', key: 'secret-key' }]);
    for (const { url, headers } of requests) {
      expect(url.href).toBe('https://gateway.example.com/v1/chat/completions');
      expect(headers).toMatchObject({ authorization: 'Bearer short-lived' });
    }
  });

  it.each([
    ['refuses', new Response('no', { status: 500 })],
    ['sends no token', Response.json({})],
    ['is unreachable', new TypeError('fetch failed')],
  ])('fails for the whole upstream when the gateway %s', async (_, answer) => {
    await expect(new GatewayProtocol().request(TEST_CALL, upstream, contextWith(answer).context)).rejects.toMatchObject(
      {
        code: 'upstream_error',
        scope: 'upstream',
      },
    );
  });

  it('knows what a 403 of the gateway means', () => {
    const protocol = new GatewayProtocol();
    expect(protocol.failure(403)).toMatchObject({ code: 'upstream_error', scope: 'upstream' });
    expect(protocol.failure(429)).toBeUndefined();
  });

  it('has options with a URL', () => {
    const { options } = new GatewayProtocol();
    expect(options.safeParse({ token_url: 'nowhere' }).error?.issues).toMatchObject([{ path: ['token_url'] }]);
  });
});

const frame = (body: object): Buffer => {
  const json = Buffer.from(JSON.stringify(body));
  const head = Buffer.alloc(8);
  head.writeUInt32BE(json.length, 0);
  head.writeUInt32BE(crc32(json), 4);
  return Buffer.concat([head, json]);
};

describeProtocol({
  protocol: new FramesProtocol(),
  answers: [
    {
      name: 'frames/hello',
      bytes: Buffer.concat([frame({ piece: 'Hel' }), frame({ piece: 'lo 👋' }), frame({ end: 'stop' })]),
      expected: { text: 'Hello 👋', complete: true, finish: { reason: 'stop', raw: 'stop' } },
    },
  ],
  accept: 'application/x-frames',
  hasEventNames: false,
  hasOwnCredential: true,
});

describe('the credentials of a company', () => {
  const url = new URL('https://api.example.com/v1/run?x=1');
  const request = { url, headers: {}, body: '{"a":1}' };

  it('are a token with its expiry', async () => {
    const fetch = () => Promise.resolve(Response.json({ token: 'short-lived', seconds: 60 }));
    const options = { token_url: 'https://tokens.example.com', client: 'chat', secret: 's3cret' };
    const credential = await new CompanyToken().obtain(options, TEST_UPSTREAM, { ...TEST_CONTEXT, fetch });
    expect(credential.authorize(request)).toEqual({ authorization: 'Bearer short-lived' });
    expect(credential.expiresAt).toBeGreaterThan(Date.now() + 50_000);
    const down = () => Promise.resolve(Response.json({}, { status: 503 }));
    await expect(
      new CompanyToken().obtain(options, TEST_UPSTREAM, { ...TEST_CONTEXT, fetch: down }),
    ).rejects.toMatchObject({ failureCause: { kind: 'credentials_unavailable', status: 503 } });
  });

  it('are a signature over what is sent', async () => {
    const credential = await new CompanySigner().obtain({ key_id: 'k1', key: 'key' });
    const headers = await credential.authorize(request);
    const text = ['POST', '/v1/run', headers['x-time'], '{"a":1}'].join('\n');
    const signature = createHmac('sha256', 'key').update(text).digest('hex');
    expect(headers.authorization).toBe(`Signature k1:${signature}`);
  });
});

describeProtocol({
  protocol: new LinesProtocol(),
  answers: [
    {
      name: 'lines/hello',
      bytes: Buffer.from('{"out":"Hel"}\n{"out":"lo 👋"}\n{"end":true,"used":[3,2]}\n'),
      expected: {
        text: 'Hello 👋',
        complete: true,
        finish: { reason: 'stop', raw: 'end' },
        usage: { inputTokens: 3, outputTokens: 2 },
      },
    },
  ],
  accept: 'application/x-ndjson',
  hasEventNames: false,
});
