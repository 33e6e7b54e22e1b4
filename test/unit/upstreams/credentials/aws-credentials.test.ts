import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AwsCredentials } from '../../../../src/upstreams/credentials/aws-credentials.js';
import { encodedRequest } from '../../../../src/upstreams/transport/encoded-request.js';
import { signatureProblem, type SigningKey } from '../../../support/clouds/sigv4-verifier.js';

/** The key, the time and the signatures of the test suite that AWS publishes for Signature Version 4. */
const SUITE: SigningKey = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
  service: 'service',
};
const TIME = '20150830T123600Z';
const FORM = 'application/x-www-form-urlencoded';
const VECTORS = [
  ['get-vanilla', 'GET', '/', '', '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
  ['get-utf8', 'GET', '/ሴ', '', '8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85'],
  [
    'get-vanilla-query-order-key-case',
    ...(['GET', '/?Param2=value2&Param1=value1', ''] as const),
    'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  ],
  ['post-vanilla', 'POST', '/', '', '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
  [
    'post-x-www-form-urlencoded',
    ...(['POST', '/', 'Param1=value1'] as const),
    'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
  ],
] as const;

describe('the verifier of the tests', () => {
  it.each(VECTORS)('accepts the request %s of the suite, and no other', (_, method, path, body, signature) => {
    const signed = [...(body === '' ? [] : ['content-type']), 'host', 'x-amz-date'].join(';');
    const scope = 'AKIDEXAMPLE/20150830/us-east-1/service/aws4_request';
    const headers = {
      host: 'example.amazonaws.com',
      'x-amz-date': TIME,
      ...(body !== '' && { 'content-type': FORM }),
      authorization: `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=${signed}, Signature=${signature}`,
    };
    const request = { method, path, headers, body };
    expect(signatureProblem(request, SUITE)).toBeUndefined();
    expect(signatureProblem({ ...request, body: `${body}x` }, SUITE)).toBe('the signature is wrong');
    expect(signatureProblem({ ...request, path: `${path}x` }, SUITE)).toBe('the signature is wrong');
  });
});

describe('credentials of AWS', () => {
  const source = new AwsCredentials();
  const options = { region: 'eu-central-1', service: 'bedrock' };
  const key: SigningKey = { ...SUITE, sessionToken: 'session', region: 'eu-central-1', service: 'bedrock' };

  beforeEach(() => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', key.accessKeyId);
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', key.secretAccessKey);
    vi.stubEnv('AWS_SESSION_TOKEN', key.sessionToken);
  });
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  const ARN = 'arn:aws:bedrock:eu-central-1:123456789012:application-inference-profile/a1b2c3d4e5f6';
  it.each([
    [
      'an id with a colon',
      `/model/${encodeURIComponent('eu.anthropic.claude-haiku-4-5-20251001-v1:0')}/converse-stream`,
    ],
    ['an ARN with slashes', `/model/${encodeURIComponent(ARN)}/converse-stream`],
    ['signs that few encode', `/a!b'c(d)e*f~g/@x`],
    ['a query', '/openai/v1/chat/completions?b=2&a=1&a=%20%2F'],
  ])('sign a request with %s', async (_, path) => {
    const credential = await source.obtain(options);
    const url = new URL(`http://127.0.0.1:8080${path}`);
    const body = '{"text":"Grüße 👋"}';
    const headers = { 'content-type': 'application/json', accept: 'x', 'x-team': 'blue' };
    const signed = await credential.authorize({ url, headers, body });
    const sent = { ...headers, ...signed, host: url.host };
    const request = { method: 'POST', path: url.pathname + url.search, headers: sent, body };
    expect(signatureProblem(request, key)).toBeUndefined();
    expect(signed.authorization).toContain('SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date;');
  });

  it('sign a long body, which is encoded in pieces', async () => {
    const credential = await source.obtain(options);
    const url = new URL('http://127.0.0.1:8080/model/x/converse-stream');
    const pieces = Array.from({ length: 300 }, (_, index) => Buffer.from(`Grüße ${index} 👋`.repeat(1_000)));
    const signed = await credential.authorize(encodedRequest({ url, headers: {} }, pieces));
    const body = Buffer.concat(pieces).toString();
    const request = { method: 'POST', path: url.pathname, headers: { ...signed, host: url.host }, body };
    expect(signatureProblem(request, key)).toBeUndefined();
  });

  it.each([
    [401, '', true],
    [403, 'ExpiredTokenException:http://internal.amazon.com/coral/com.amazon.coral.service/', true],
    [403, 'UnrecognizedClientException', true],
    [403, 'AccessDeniedException', false],
    [400, 'ExpiredTokenException', false],
  ])('take the answer %i %s for a refusal of themselves: %s', async (status, type, isRefused) => {
    const credential = await source.obtain(options);
    expect(credential.isRefused?.(status, { 'x-amzn-errortype': type })).toBe(isRefused);
  });
});
