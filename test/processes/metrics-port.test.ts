import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { configFile, routesTo } from '../support/catalog.js';
import { readMetrics, valueOf } from '../support/metrics.js';
import { Installation, type SpawnedProcess } from '../support/process.js';
import { ScriptedProvider } from '../../src/testing/provider/scripted-provider.js';
import { get, openStream } from '../support/sse-client.js';
import { waitFor } from '../support/wait-for.js';

describe('METRICS_PORT', () => {
  let installation: Installation;
  let provider: ScriptedProvider;

  beforeAll(async () => {
    provider = await ScriptedProvider.start();
    installation = await Installation.create(configFile(routesTo([provider])));
  });
  afterAll(async () => {
    await installation.remove();
    await provider.stop();
  });

  const originOf = async (service: SpawnedProcess): Promise<string> => {
    await service.origin();
    return /Metrics at (http:\/\/[\d.:]+)\/metrics/.exec(service.stdout)?.[1] ?? '';
  };

  it('ends the start with one line when it is in use', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;

    const { code, stderr } = await installation.start({ METRICS_PORT: String(port) }).exited;

    expect(code).toBe(1);
    expect(stderr).toMatch(new RegExp(`METRICS_PORT: ${port} on 127.0.0.1 is already in use`));
    expect(stderr).not.toMatch(/\bat .*:\d+:\d+/);
    server.close();
  });

  it('answers while the process drains, and ends with it', async () => {
    const { key } = await installation.createKey();
    const service = installation.start({ METRICS_PORT: '0' });
    const metrics = await originOf(service);
    provider.next((call) => void call.head().text('Hello'));
    const running = await openStream(await service.origin(), { key });
    await running.block(1);

    service.signal('SIGTERM');
    const draining = await waitFor(async () => {
      const series = readMetrics(await (await get(metrics, '/metrics')).body());
      return valueOf(series, 'chat_draining') === 1 ? series : undefined;
    }, 'the process to drain');

    expect(valueOf(draining, 'chat_open_streams')).toBe(1);
    (await provider.call(1)).finish().endMarker().end();
    expect(await running.over).toBe('ended');
    expect((await service.exited).code).toBe(0);
    await expect(
      get(metrics, '/metrics').then(
        ({ status }) => status,
        () => 'gone',
      ),
    ).resolves.toBe('gone');
  }, 60_000);
});
