import { readFile } from 'node:fs/promises';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { generateToken } from '../../../src/accounts/credentials/secrets.js';
import { SessionsService } from '../../../src/accounts/sessions/sessions.service.js';
import { DrainState } from '../../../src/platform/common/drain-state.js';
import { UnsharedLimits } from '../../../src/usage/store/unshared-limits.js';
import { routesTo } from '../../support/catalog.js';
import { startService, type RunningService } from '../../support/service.js';
import { get, stream } from '../../support/sse-client.js';

const MODELS = '/api/v1/chat/models';
const READY = '/api/v1/health/ready';

describe('the list of models', () => {
  let service: RunningService;

  beforeAll(async () => {
    const { upstreams, models } = routesTo(['http://127.0.0.1:9']);
    service = await startService({
      upstreams: { ...upstreams, unset: { protocol: 'openai', base_url: 'http://127.0.0.1:9', api_key: '${NOT_SET}' } },
      models: [
        {
          ...models[0],
          id: 'acme/first',
          name: 'First',
          routes: [
            { upstream: 'unset', model: 'a' },
            { upstream: 'acme', model: 'a' },
          ],
        },
        { ...models[0], id: 'acme/hidden', routes: [{ upstream: 'unset', model: 'b' }] },
        { ...models[0], id: 'acme/deep/name', name: 'Première – 速い', context_length: 5 },
      ],
    });
  });
  afterAll(() => service.stop());

  it('holds those with a configured upstream, in order, with their four members, for everybody', async () => {
    const answer = await get(service.origin, MODELS);

    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(JSON.parse(answer.raw)).toEqual({
      models: [
        { id: 'acme/first', name: 'First', provider: 'Acme', context_length: 8192 },
        { id: 'acme/deep/name', name: 'Première – 速い', provider: 'Acme', context_length: 5 },
      ],
    });
  });

  it('does not serve what it does not list', async () => {
    const { key } = await service.createKey();
    expect((await stream(service.origin, { key, body: { model: 'acme/hidden' } })).status).toBe(404);
  });

  it('may be cached, and need not be sent again while it is the same', async () => {
    const { headers } = await get(service.origin, MODELS);
    const etag = headers.etag ?? '';

    expect(headers['cache-control']).toMatch(/public, max-age=\d+/);
    expect(etag).toMatch(/^"[\w-]+"$/);
    for (const sent of [etag, `"other", ${etag}`, `W/${etag}`, '*']) {
      const unchanged = await get(service.origin, MODELS, { 'if-none-match': sent });
      expect({ status: unchanged.status, body: unchanged.raw }).toEqual({ status: 304, body: '' });
      expect(unchanged.headers.etag).toBe(etag);
      expect(unchanged.headers['cache-control']).toBe(headers['cache-control']);
    }
    expect((await get(service.origin, MODELS, { 'if-none-match': '"other"' })).status).toBe(200);
  });

  it('is the same for a request with a cookie, a body or another spelling of the path', async () => {
    const plain = await get(service.origin, MODELS);
    const others = [
      await get(service.origin, MODELS, { cookie: 'theme=dark' }),
      await get(service.origin, `${MODELS}/`),
      await get(service.origin, `${MODELS}?fresh=1`),
      await get(service.origin, MODELS, { 'content-length': '0' }),
    ];

    for (const other of others) {
      expect({ status: other.status, body: other.raw }).toEqual({ status: 200, body: plain.raw });
      expect(Object.keys(other.headers)).toEqual(Object.keys(plain.headers));
    }
    expect(plain.headers).toMatchObject({ 'x-content-type-options': 'nosniff' });
    const named = await get(service.origin, MODELS, { 'x-request-id': 'mine-1' });
    expect(named.headers['x-request-id']).toBe('mine-1');
  });

  it('answers HEAD without a body', async () => {
    const answer = await stream(service.origin, { path: MODELS, method: 'HEAD' });
    expect({ status: answer.status, body: answer.raw }).toEqual({ status: 200, body: '' });
    expect(Number(answer.headers['content-length'])).toBeGreaterThan(0);
  });
});

describe('health', () => {
  let service: RunningService;

  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  it('is healthy, with the version of the package', async () => {
    const { version } = JSON.parse(await readFile(new URL('../../../package.json', import.meta.url), 'utf8')) as {
      version: string;
    };

    const answer = await get(service.origin, '/api/v1/health');

    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.raw)).toEqual({ status: 'healthy', version });
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  });

  it('queries no store for the session', async () => {
    const asked = vi.spyOn(service.app.get(SessionsService, { strict: false }), 'verify');
    const cookie = `__Host-session=${generateToken()}`;

    expect((await get(service.origin, '/api/v1/health', { cookie })).status).toBe(200);
    expect(asked).not.toHaveBeenCalled();
    await get(service.origin, MODELS, { cookie });
    expect(asked).toHaveBeenCalledOnce();
  });

  it('warns on readiness while several processes count the limits separately', async () => {
    const database = service.app.get(DataSource, { strict: false });
    const limits = service.app.get(UnsharedLimits, { strict: false });
    const ready = async () => (JSON.parse((await get(service.origin, READY)).raw) as { parts: object }).parts;
    const other = "INSERT INTO usage_writers (id, host, pid, seen_at) VALUES ('other', 'elsewhere', 1, unixepoch() - ";
    await database.query(`${other}10)`);

    for (let checks = 1; checks < 6; checks++) await limits.check();
    expect(await ready()).toEqual({ database: 'up', draining: false });
    await limits.check();
    expect(await ready()).toEqual({ database: 'up', limits: 'not_shared', draining: false });

    await database.query('UPDATE usage_writers SET seen_at = seen_at - 20 WHERE id = ?', ['other']);
    await limits.check();
    expect(await ready()).toEqual({ database: 'up', draining: false });
  });

  it('is still healthy without the database, but not ready, and a stream is refused as unavailable', async () => {
    const { key } = await service.createKey();
    const database = service.app.get(DataSource, { strict: false });
    await database.destroy();

    const ready = await get(service.origin, READY);
    expect(ready.status).toBe(503);
    expect(JSON.parse(ready.raw)).toMatchObject({ parts: { database: 'down' }, error: { code: 'unavailable' } });
    expect((await get(service.origin, '/api/v1/health')).status).toBe(200);
    expect((await get(service.origin, MODELS)).status).toBe(200);
    const refused = await stream(service.origin, { key });
    expect(refused.status).toBe(503);
    expect((await refused.error()).code).toBe('unavailable');
    expect(refused.headers['retry-after']).toMatch(/^\d+$/);

    await database.initialize();
  });

  // The last test, because a drain does not end before its process.
  it('is ready while the database answers, and not while the process drains', async () => {
    const ready = await get(service.origin, READY);
    expect(ready.status).toBe(200);
    expect(JSON.parse(ready.raw)).toEqual({ status: 'ready', parts: { database: 'up', draining: false } });
    expect(ready.headers['cache-control']).toBe('no-store');

    service.app.get(DrainState, { strict: false }).begin();

    const draining = await get(service.origin, READY);
    expect(draining.status).toBe(503);
    expect(JSON.parse(draining.raw)).toMatchObject({ parts: { draining: true }, error: { code: 'shutting_down' } });
    expect((await get(service.origin, '/api/v1/health')).status).toBe(200);
  });
});
