import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUILT_IN_PLUGINS, type BuiltInPlugin } from '../../../src/platform/config/config.js';
import { ScriptedProvider } from '../../../src/testing/provider/scripted-provider.js';
import { routesTo } from '../../support/catalog.js';
import { startService, type RunningService } from '../../support/service.js';
import { get, openStream } from '../../support/sse-client.js';
import { wireOf } from '../../support/wire.js';

/** Paths that are there only with the plugin. Each answers with 401 or 200, and is 404 without the plugin. */
const PATHS: Readonly<Partial<Record<BuiltInPlugin, readonly string[]>>> = {
  compatible: ['/api/v1/models'],
  durable: ['/api/v1/chat/streams/01a21a4a-0604-7472-8c90-7c3a4da05fb2'],
  dashboard: ['/sign-in', '/playground', '/usage', '/operator/status'],
  admin: ['/api/v1/admin/accounts'],
  audit: ['/settings/activity', '/operator/audit', '/api/v1/admin/audit'],
  webhooks: ['/operator/webhooks'],
  reports: ['/api/v1/usage', '/usage', '/usage/requests', '/api/v1/admin/usage'],
};

describe('PLUGINS', () => {
  let provider: ScriptedProvider;
  beforeAll(async () => {
    provider = await ScriptedProvider.start();
  });
  afterAll(() => provider.stop());

  const start = (plugins?: string) =>
    startService({
      ...routesTo([provider]),
      env: { METRICS_PORT: '0', ...(plugins === undefined ? {} : { PLUGINS: plugins }) },
    });
  const isServed = async ({ origin }: RunningService, path: string) => (await get(origin, path)).status !== 404;
  const streams = async ({ origin, createKey }: RunningService) => {
    const { key } = await createKey();
    expect(await wireOf(await openStream(origin, { key }))).toMatchObject({ text: 'Hello world', terminal: 'done' });
  };

  it('leaves nothing out by default', async () => {
    const service = await start();
    for (const path of Object.values(PATHS).flat()) expect([path, await isServed(service, path)]).toEqual([path, true]);
    await service.stop();
  });

  it.each(BUILT_IN_PLUGINS)('without %s, its paths are unknown, and answers still stream', async (left) => {
    const service = await start(BUILT_IN_PLUGINS.filter((name) => name !== left).join());
    const gone = PATHS[left] ?? [];
    for (const path of gone) expect([path, await isServed(service, path)]).toEqual([path, false]);
    const others = Object.entries(PATHS).flatMap(([name, paths]) => (name === left ? [] : paths));
    const kept = others.filter((path) => !gone.includes(path) && (left !== 'dashboard' || path.startsWith('/api/')));
    for (const path of left === 'admin' ? kept.filter((name) => !name.includes('/admin/')) : kept) {
      expect([path, await isServed(service, path)]).toEqual([path, true]);
    }
    await streams(service);
    await service.stop();
  });

  it('none: the service streams, lists its models and answers probes', async () => {
    const service = await start('none');
    for (const path of Object.values(PATHS).flat())
      expect([path, await isServed(service, path)]).toEqual([path, false]);
    for (const path of ['/api/v1/health', '/api/v1/health/ready', '/api/v1/chat/models', '/api/openapi.json']) {
      expect([path, (await get(service.origin, path)).status]).toEqual([path, 200]);
    }
    await streams(service);
    const unknown = await get(service.origin, '/sign-in', { Accept: 'text/html' });
    expect(unknown.headers['content-type']).toContain('application/json');
    await service.stop();
  });

  it('without durable, a key does not make two requests one', async () => {
    const service = await start('compatible');
    const { key } = await service.createKey();
    const calls = provider.calls.length;
    for (let request = 0; request < 2; request += 1) {
      const answer = await openStream(service.origin, { key, headers: { 'Idempotency-Key': 'one-and-the-same' } });
      expect(await wireOf(answer)).toMatchObject({ terminal: 'done' });
    }
    expect(provider.calls.length).toBe(calls + 2);
    await service.stop();
  });
});
