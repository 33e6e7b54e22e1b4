import { Body, Controller, Get, HttpCode, Post } from '@nestjs/common';
import { IsString } from 'class-validator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LimitedByTier, Surface } from '../../../src/index.js';
import { signedIn } from '../../support/account-session.js';
import { startService, type RunningService } from '../../support/service.js';
import { stream } from '../../support/sse-client.js';

const path = '/api/v1/acme/things';

class Named {
  @IsString()
  readonly name!: string;
}

@Surface({
  name: 'acme',
  keyHeader: 'x-api-key',
  keysOnly: true,
  ignoresUnknown: true,
  headers: (requestId) => ({ 'request-id': requestId }),
  errorBody: ({ code, message }) => ({ fault: { code, message } }),
})
@LimitedByTier()
@Controller('acme')
class AcmeController {
  @Post('things')
  @HttpCode(200)
  create(@Body() body: object): object {
    if ('fail' in body) throw new Error('a bug');
    return { ok: true };
  }

  @Post('nudge')
  @HttpCode(200)
  nudge(): object {
    return { ok: true };
  }

  @Post('named')
  @HttpCode(200)
  @LimitedByTier({ body: Named, tokensOf: () => ({ atLeast: 0, atMost: 0 }) })
  named(@Body() body: Named): object {
    return body;
  }

  @Get('things')
  list(): object {
    return [];
  }
}

describe('a surface of a plugin', () => {
  let service: RunningService;
  let key: string;

  beforeAll(async () => {
    service = await startService({
      modules: [{ module: AcmeController, controllers: [AcmeController] }],
      tiers: { free: { requests_per_minute: 100, tokens_per_minute: 1_000 }, small: { requests_per_minute: 1 } },
    });
    ({ key } = await service.createKey({ email: 'ada@example.com' }));
  });
  afterAll(() => service.stop());

  const send = (options: Parameters<typeof stream>[1]) => stream(service.origin, { path, body: '{}', key, ...options });

  it.each([
    [401, 'unauthenticated', { key: undefined }],
    [401, 'unauthenticated', { key: 'wrong' }],
    [404, 'not_found', { path: `${path}/unknown`, key: undefined }],
    [405, 'method_not_allowed', { method: 'PUT' }],
    [405, 'method_not_allowed', { method: 'DELETE', path: '/API/v1/Acme/Things' }],
    [413, 'payload_too_large', { headers: { 'content-length': '99999999' }, body: '' }],
    [415, 'unsupported_media_type', { headers: { 'content-type': 'text/plain' } }],
    [400, 'invalid_request', { body: '{' }],
    [500, 'internal_error', { body: '{"fail":true}' }],
  ])('answers an error in its own format: %s %s', async (status, code, options) => {
    const refused = await send(options);
    expect(refused.status).toBe(status);
    expect(JSON.parse(refused.raw)).toEqual({ fault: { code, message: expect.any(String) as string } });
    expect(refused.headers['request-id']).toBe(refused.headers['x-request-id']);
  });

  it('reads the key from its own header, if there is no Authorization', async () => {
    expect((await send({ key: undefined, headers: { 'x-api-key': key } })).status).toBe(200);
    expect((await send({ key: 'wrong', headers: { 'x-api-key': key } })).status).toBe(401);
    const other = await stream(service.origin, { headers: { 'x-api-key': key } });
    expect(other.status).toBe(401);
  });

  it('accepts no session', async () => {
    const { cookie } = await signedIn(service);
    const headers = { cookie: `${cookie.name}=${cookie.value}`, origin: service.origin };
    expect((await send({ key: undefined, headers })).status).toBe(401);
    expect((await send({ key, headers: { ...headers, origin: 'https://other.example' } })).status).toBe(200);
  });

  it('accepts a request without a body where the route has no body', async () => {
    const answer = await fetch(`${service.origin}/api/v1/acme/nudge`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
    });
    expect(answer.status).toBe(200);
  });

  it('ignores unknown members, and names them', async () => {
    const members = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`extra${index}`, index]));
    const answer = await send({
      path: '/api/v1/acme/named',
      body: JSON.stringify({ name: 'one', 'odd name\r\n': 1, ...members }),
    });
    expect(JSON.parse(answer.raw)).toEqual({ name: 'one' });
    const named = String(answer.headers['x-ignored-parameters']).split(', ');
    expect(named).toHaveLength(20);
    expect(named).toEqual(Object.keys(members).slice(0, 20));
    expect((await send({ path: '/api/v1/acme/named', body: '{"other":1}' })).status).toBe(400);
  });

  it('names its limits as other APIs do, and when a retry makes sense', async () => {
    const { headers } = await send({});
    expect(headers['x-ratelimit-limit-requests']).toBe('100');
    expect(headers['x-ratelimit-remaining-tokens']).toBe('1000');
    const small = await service.createKey({ email: 'bob@example.com', tier: 'small' });
    await send({ key: small.key });
    const refused = await send({ key: small.key });
    expect(refused.status).toBe(429);
    // In milliseconds: SDKs retry after half a second if the time is a whole minute.
    const waitMs = Number(refused.headers['retry-after-ms']);
    expect(Math.ceil(waitMs / 1_000)).toBe(Number(refused.headers['retry-after']));
    expect(waitMs).toBeLessThan(60_000);
    expect(refused.headers['x-should-retry']).toBeUndefined();
    expect(refused.headers['x-ratelimit-remaining-requests']).toBe('0');
  });
});
