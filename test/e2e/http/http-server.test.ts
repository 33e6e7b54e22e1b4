import type { Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type RunningService } from '../../support/service.js';
import { get } from '../../support/sse-client.js';

describe('the HTTP server', () => {
  let service: RunningService;

  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  it('limits the time for headers, and keeps idle connections longer than load balancers do', () => {
    const server: Server = service.app.getHttpServer();
    expect([server.headersTimeout, server.keepAliveTimeout]).toEqual([10_000, 75_000]);
    // Node looks for late headers only so often, by default every 30 seconds.
    expect(server).toMatchObject({ connectionsCheckingInterval: 2_000 });
  });

  it('creates no ETag for answers that do not define one', async () => {
    const { status, headers } = await get(service.origin, '/api/v1/health');
    expect([status, headers.etag]).toEqual([200, undefined]);
  });

  it('still serves after the operating system could not accept a connection', async () => {
    const server: Server = service.app.getHttpServer();
    // As Node does with the error number of `accept`.
    server.emit('error', Object.assign(new Error('accept EMFILE'), { code: 'EMFILE', syscall: 'accept' }));
    expect((await get(service.origin, '/api/v1/health')).status).toBe(200);
  });
});
