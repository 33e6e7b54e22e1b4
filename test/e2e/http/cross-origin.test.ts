import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type RunningService } from '../../support/service.js';
import { get, stream } from '../../support/sse-client.js';

const origin = 'https://tools.example.com';
const asked = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization, x-one' };

describe('pages of other origins', () => {
  let service: RunningService;

  beforeAll(async () => {
    service = await startService({ env: { CORS_ORIGINS: `${origin},http://localhost:5173` } });
  });
  afterAll(() => service.stop());

  const preflight = (path: string, from = origin) =>
    stream(service.origin, { method: 'OPTIONS', path, headers: { origin: from, ...asked } });

  it.each(['/api/v1/chat/stream', '/api/v1/chat/completions'])(
    'may send a key to %s if they are named',
    async (path) => {
      const allowed = await preflight(path);
      expect(allowed.status).toBe(204);
      expect(allowed.headers).toMatchObject({
        'access-control-allow-origin': origin,
        'access-control-allow-headers': 'authorization, x-one',
        vary: 'Origin',
      });
      expect(allowed.headers['access-control-allow-methods']).toContain('POST');
      const refused = await stream(service.origin, { path, headers: { origin } });
      expect(refused.status).toBe(401);
      expect(refused.headers['access-control-allow-origin']).toBe(origin);
      expect(refused.headers['access-control-expose-headers']).toBe('*');
      expect(refused.headers).not.toHaveProperty('access-control-allow-credentials');
    },
  );

  it('may read the models', async () => {
    for (const path of ['/api/v1/chat/models', '/api/v1/models']) {
      expect((await get(service.origin, path, { origin })).headers['access-control-allow-origin']).toBe(origin);
    }
  });

  it('may do nothing if they are not named, or at other paths', async () => {
    for (const [path, from] of [
      ['/api/v1/chat/stream', 'https://evil.example.com'],
      ['/api/v1/chat/stream', 'null'],
      ['/api/v1/usage', origin],
      ['/settings/api-keys', origin],
    ] as const) {
      const refused = await preflight(path, from);
      expect(refused.status).not.toBe(204);
      expect(refused.headers).not.toHaveProperty('access-control-allow-origin');
    }
  });
});
