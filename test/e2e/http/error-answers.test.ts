import { Controller, Get, Module, Res } from '@nestjs/common';
import type { Response } from 'express';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiKeysService } from '../../../src/accounts/api-keys/api-keys.service.js';
import { Public } from '../../../src/platform/http/routing/route-decorators.js';
import { rawRequest } from '../../support/raw-request.js';
import { stream, type ReceivedStream } from '../../support/sse-client.js';
import { setStage, type Stage } from '../../support/stage.js';
import { waitFor } from '../../support/wait-for.js';

const STREAM = '/api/v1/chat/stream';

async function expectError(answer: ReceivedStream, status: number, code: string): Promise<void> {
  expect(answer.headers).toMatchObject({
    'cache-control': 'no-store',
    'content-type': 'application/json; charset=utf-8',
    'x-content-type-options': 'nosniff',
  });
  const error = await answer.error();
  expect({ status: answer.status, code: error.code }).toEqual({ status, code });
  expect(error.message).not.toBe('');
  expect(error.request_id).toBe(answer.headers['x-request-id']);
  expect(Object.keys(error).filter((member) => !['code', 'message', 'request_id', 'details'].includes(member))).toEqual(
    [],
  );
}

@Controller('half')
class HalfAnswers {
  @Get()
  @Public()
  async half(@Res() response: Response): Promise<never> {
    await new Promise((sent) => response.setHeader('Content-Type', 'text/plain').write('half of', sent));
    throw new Error('It failed in the middle of its answer.');
  }
}

@Module({ controllers: [HalfAnswers] })
class HalfAnswersModule {}

describe('an error outside a stream', () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await setStage(1, { modules: [HalfAnswersModule] });
  });
  afterAll(() => stage.clear());

  describe.each([
    '/nowhere',
    '/api/v1',
    '/api/v1/',
    '/api/v1/chat',
    '/api/v1/chat/streams',
    '/chat/stream',
    '/api/v2/health',
  ])('at the unknown path %s', (path) => {
    it.each(['GET', 'POST', 'DELETE'])('is not_found for %s', async (method) => {
      await expectError(await stream(stage.origin, { path, method }), 404, 'not_found');
    });
  });

  it.each([
    [STREAM, 'GET', 'POST'],
    [STREAM, 'PUT', 'POST'],
    [STREAM, 'DELETE', 'POST'],
    ['/api/v1/chat/models', 'POST', 'GET, HEAD'],
    ['/api/v1/health', 'POST', 'GET, HEAD'],
    ['/api/v1/health/ready', 'PATCH', 'GET, HEAD'],
  ])('at %s is method_not_allowed for %s, and names what is allowed', async (path, method, allow) => {
    const answer = await stream(stage.origin, { path, method });
    await expectError(answer, 405, 'method_not_allowed');
    expect(answer.headers.allow).toBe(allow);
  });

  it('is invalid_request for a path that cannot be decoded', async () => {
    await expectError(await stream(stage.origin, { path: '/api/v1/%E0%A4%A', method: 'GET' }), 400, 'invalid_request');
  });

  it.each<[string, Record<string, string>]>([
    ['no credential', {}],
    ['another scheme', { authorization: 'Basic dXNlcjpwYXNz' }],
    ['no key after the scheme', { authorization: 'Bearer' }],
    ['two words for a key', { authorization: 'Bearer two words' }],
    ['a cookie', { cookie: 'session=abc' }],
  ])('is unauthenticated with %s, and says how to authenticate', async (_, headers) => {
    const answer = await stream(stage.origin, { headers });
    await expectError(answer, 401, 'unauthenticated');
    expect(answer.headers['www-authenticate']).toMatch(/^Bearer /);
    expect(answer.headers['www-authenticate']).not.toContain('error="invalid_token"');
  });

  it('is unauthenticated with a key that is not or no longer valid, and does not say which', async () => {
    const keys = stage.service.app.get(ApiKeysService, { strict: false });
    const revoked = await stage.service.createKey();
    await keys.revoke(revoked.id);
    const expired = await stage.service.createKey({ expiresAt: new Date(Date.now() + 1000) });
    await waitFor(async () => (await stream(stage.origin, { key: expired.key })).status === 401, 'the key to expire');
    const wrongChecksum = stage.key.slice(0, -1) + (stage.key.endsWith('0') ? '1' : '0');

    const bodies = new Set<string>();
    for (const key of [revoked.key, expired.key, wrongChecksum, 'nonsense']) {
      const answer = await stream(stage.origin, { key, headers: { 'x-request-id': 'same' } });
      await expectError(answer, 401, 'unauthenticated');
      expect(answer.headers['www-authenticate']).toMatch(/^Bearer .*error="invalid_token"/);
      bodies.add(answer.raw);
      expect(answer.raw).not.toContain(key);
    }
    expect(bodies.size).toBe(1);
  });

  it('is unauthenticated with a valid key in the query or the body, where it would end up in logs', async () => {
    const path = `${STREAM}?access_token=${stage.key}`;
    await expectError(await stream(stage.origin, { path }), 401, 'unauthenticated');
    await expectError(await stream(stage.origin, { body: { access_token: stage.key } }), 401, 'unauthenticated');
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const body = `access_token=${stage.key}`;
    await expectError(await stream(stage.origin, { body, headers: form }), 401, 'unauthenticated');
  });

  it.each([
    ['is not HTTP', 'nonsense\r\n\r\n', 400],
    ['has an unknown method', 'BREW /api/v1/health HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['has a broken header', 'GET /api/v1/health HTTP/1.1\r\nHost: x\r\nbro ken: 1\r\n\r\n', 400],
    ['has two lengths', `POST ${STREAM} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}`, 400],
    ['has headers without end', `GET /api/v1/health HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['has no host', 'GET /api/v1/health HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    [
      'expects what nobody knows',
      'GET /api/v1/health HTTP/1.1\r\nHost: x\r\nExpect: tea\r\nConnection: close\r\n\r\n',
      417,
    ],
  ])('is JSON for a request that %s', async (_, bytes, status) => {
    const answer = await rawRequest(stage.origin, bytes);

    const [head = '', body = ''] = answer.split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(head).toMatch(/^content-type: application\/json/im);
    expect(head).toMatch(/^x-request-id: /im);
    expect(JSON.parse(body)).toMatchObject({ error: { code: 'invalid_request' } });
  });

  it('is not the answer to HTTP/1.0, which has no Host', async () => {
    expect(await rawRequest(stage.origin, 'GET /api/v1/health HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.[01] 200 /);
  });

  it('that comes after the headers cuts the connection, so that half a response does not look whole', async () => {
    const answer = await stream(stage.origin, { path: '/api/v1/half', method: 'GET' });

    expect(answer.raw).toBe('half of');
    expect(await answer.over).toBe('cut');
  });

  it('holds no stack, path or secret', async () => {
    stage.provider.next((call) => {
      call.refuse(401, {}, '{"error":{"message":"bad key secret-of-acme at /srv/provider/auth.py"}}');
    });
    const answers = [
      await stream(stage.origin, { key: stage.key }),
      await stream(stage.origin, { key: stage.key, body: '{' }),
      await stream(stage.origin, { path: '/nowhere' }),
      await stream(stage.origin, { key: 'csk_wrong' }),
      await stream(stage.origin, { path: '/api/v1/%', method: 'GET' }),
    ];
    for (const { raw, headers } of answers) {
      expect(raw + JSON.stringify(headers)).not.toMatch(
        /secret-of|\.(js|ts|py)\b|\/(work|srv|node_modules)\/|\bat [\w.<>]+ \(/,
      );
    }
  });
});
