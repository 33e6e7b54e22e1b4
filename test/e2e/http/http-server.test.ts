import type { Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answering } from '../../support/scripts.js';
import { get, openStream } from '../../support/sse-client.js';
import { setStage, type Stage } from '../../support/stage.js';

const GZIP = { 'accept-encoding': 'gzip' };

describe('the HTTP server', () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await setStage();
  });
  afterAll(() => stage.clear());

  it.each(['/docs/http-api', '/sign-in', '/api/openapi.json', '/api/docs/swagger-ui.css'])(
    'compresses %s for clients that take it',
    async (path) => {
      const url = stage.origin + path;
      const [plain, compressed] = [
        await fetch(url, { headers: { 'accept-encoding': 'identity', accept: '*/*' } }),
        await fetch(url, { headers: { ...GZIP, accept: '*/*' } }),
      ];
      expect(plain.headers.get('content-encoding')).toBeNull();
      expect(compressed.headers.get('content-encoding')).toBe('gzip');
      expect(compressed.headers.get('vary')).toContain('Accept-Encoding');
      const [all, fewer] = [plain, compressed].map(({ headers }) => Number(headers.get('content-length')));
      expect(fewer).toBeLessThan((all ?? 0) / 2);
      expect(await compressed.text()).toHaveLength((await plain.text()).length);
    },
  );

  it('compresses no streams and no other answers of the API', async () => {
    stage.provider.next(answering('Hello'));
    const answer = await openStream(stage.origin, { key: stage.key, headers: GZIP });
    await answer.over;
    expect(answer.headers['content-encoding']).toBeUndefined();
    expect((await get(stage.origin, '/api/v1/chat/models')).headers['content-encoding']).toBeUndefined();
  });

  it('limits the time for headers, and keeps idle connections longer than load balancers do', () => {
    const server: Server = stage.service.app.getHttpServer();
    expect([server.headersTimeout, server.keepAliveTimeout]).toEqual([10_000, 75_000]);
    // Node looks for late headers only so often, by default every 30 seconds.
    expect(server).toMatchObject({ connectionsCheckingInterval: 2_000 });
  });

  it('creates no ETag for answers that do not define one', async () => {
    const { status, headers } = await get(stage.origin, '/api/v1/health');
    expect([status, headers.etag]).toEqual([200, undefined]);
  });

  it('still serves after the operating system could not accept a connection', async () => {
    const server: Server = stage.service.app.getHttpServer();
    // As Node does with the error number of `accept`.
    server.emit('error', Object.assign(new Error('accept EMFILE'), { code: 'EMFILE', syscall: 'accept' }));
    expect((await get(stage.origin, '/api/v1/health')).status).toBe(200);
  });

  it('lets no page of another origin use the API by default', async () => {
    const answer = await get(stage.origin, '/api/v1/chat/models', { origin: 'https://tools.example.com' });
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
  });
});
