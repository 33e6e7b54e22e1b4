import { afterEach, describe, expect, it } from 'vitest';
import { startService, type RunningService } from '../../support/service.js';
import { get } from '../../support/sse-client.js';

const PATHS = ['/api/docs', '/api/docs/', '/api/docs/swagger-ui.css', '/api/openapi.json'];

describe('the documents of the interface', () => {
  let service: RunningService | undefined;

  afterEach(() => service?.stop());

  it.each([{}, { API_DOCS: 'open', NODE_ENV: 'production' }, { NODE_ENV: 'production' }])(
    'are served with %j',
    async (env) => {
      service = await startService({ env });
      const { status, headers } = await get(service.origin, '/api/docs');
      expect(status).toBe(200);
      // Otherwise a browser would load the styles of the page over HTTPS, which the service does not speak.
      expect(headers['content-security-policy']).toMatch(/^(?!.*upgrade-insecure-requests).*default-src 'self'/);
      const answer = await get(service.origin, '/api/openapi.json');
      expect(JSON.parse(await answer.body())).toMatchObject({ openapi: '3.1.0' });
    },
  );

  it('are not found with API_DOCS=closed, like any path that does not exist', async () => {
    service = await startService({ env: { API_DOCS: 'closed' } });
    const unknown = await get(service.origin, '/api/nothing');
    for (const path of PATHS) {
      const answer = await get(service.origin, path);
      expect([path, answer.status, (await answer.error()).code]).toEqual([path, 404, 'not_found']);
      expect(Object.keys(answer.headers).sort()).toEqual(Object.keys(unknown.headers).sort());
    }
    const asBrowser = { accept: 'text/html' };
    for (const path of ['/docs', '/docs/http-api']) {
      expect((await get(service.origin, path, asBrowser)).status).toBe(404);
    }
    expect((await get(service.origin, '/', asBrowser)).raw).not.toContain('href="/docs"');
    expect((await get(service.origin, '/api/v1/health')).status).toBe(200);
  });
});
