import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { configFile, routesTo } from '../support/catalog.js';
import { Latch } from '../support/latch.js';
import { readMetrics } from '../support/metrics.js';
import { Installation, type SpawnedProcess } from '../support/process.js';
import { ScriptedProvider } from '../../src/testing/provider/scripted-provider.js';
import { closedPort } from '../support/silent-server.js';
import { get, openStream, stream } from '../support/sse-client.js';
import { waitFor } from '../support/wait-for.js';
import { wireOf } from '../support/wire.js';

describe('a changed CONFIG_FILE', () => {
  let old: ScriptedProvider;
  let next: ScriptedProvider;
  let installation: Installation;
  let replicas: SpawnedProcess[];
  let origins: string[];
  let metricsPorts: number[];
  let key: string;

  beforeAll(async () => {
    [old, next] = [await ScriptedProvider.start(), await ScriptedProvider.start()];
    installation = await Installation.create(file(old, 'Old'));
    metricsPorts = [await closedPort(), await closedPort()];
    ({ key } = await installation.createKey());
    replicas = metricsPorts.map((port) => installation.start({ METRICS_PORT: String(port) }));
    origins = await Promise.all(replicas.map((replica) => replica.origin()));
  });
  afterAll(async () => {
    await installation.remove();
    await Promise.all([old.stop(), next.stop()]);
  });

  function file(
    provider: ScriptedProvider,
    name: string,
    tiers: Record<string, object> = { free: {} },
    others: Record<string, object> = {},
  ): string {
    const { upstreams, models } = routesTo([provider]);
    const renamed = models.map((model) => ({ ...model, name }));
    return configFile({ upstreams: { ...upstreams, ...others }, models: renamed }, tiers);
  }
  const write = (content: string) => writeFile(installation.env['CONFIG_FILE'] ?? '', content);
  const nameAt = async (origin: string) =>
    (JSON.parse((await get(origin, '/api/v1/chat/models')).raw) as { models: { name: string }[] }).models[0]?.name;
  const metricsOf = async (port: number) => readMetrics((await get(`http://127.0.0.1:${port}`, '/metrics')).raw);
  const hashes = async () =>
    Promise.all(
      metricsPorts.map(async (port) => {
        const series = await metricsOf(port);
        return series.find(({ name }) => name === 'chat_config_info')?.labels['hash'];
      }),
    );
  const loggedBy = (replica: SpawnedProcess | undefined, text: string) =>
    (replica?.stdout.split('\n') ?? []).filter((line) => line.includes(text));

  it('serves new requests, and running streams go on with the old one', async () => {
    const latch = new Latch();
    old.next(async (call) => {
      call.head().text('Hel');
      await latch.opened;
      call.text('lo').finish().endMarker().end();
    });
    const running = await openStream(origins[0] ?? '', { key });
    await running.block(1);
    const [before] = await hashes();

    await write(file(next, 'New'));
    for (const origin of origins) await waitFor(async () => (await nameAt(origin)) === 'New', 'the new model');
    const [first, second] = await hashes();
    expect(first).toMatch(/^[0-9a-f]{12}$/);
    expect([first === second, first === before]).toEqual([true, false]);
    for (const replica of replicas) {
      await waitFor(() => loggedBy(replica, `was read again: ${first ?? ''}`).length === 1, 'the hash in the log');
    }

    const count = old.calls.length;
    expect(await wireOf(await openStream(origins[0] ?? '', { key }))).toMatchObject({ terminal: 'done' });
    expect([old.calls.length, next.calls.length]).toEqual([count, 1]);
    latch.open();
    expect(await wireOf(running)).toMatchObject({ text: 'Hello', terminal: 'done' });
  });

  it('that is invalid is reported in one line, and the old one stays', async () => {
    const [before] = await hashes();
    await write('upstreams: {}\nmodels: nothing\n');
    for (const replica of replicas) {
      await waitFor(() => loggedBy(replica, 'CONFIG_FILE is invalid').length > 0, 'the problem in the log');
    }
    const [line, ...others] = loggedBy(replicas[0], 'CONFIG_FILE is invalid');
    expect(others).toEqual([]);
    expect(line).toContain('CONFIG_FILE.models: Invalid input');
    expect(line).toContain('CONFIG_FILE.tiers');
    expect(await hashes()).toEqual([before, before]);
    expect((await stream(origins[0] ?? '', { key })).status).toBe(200);
    const failures = (await metricsOf(metricsPorts[0] ?? 0)).find(
      ({ name, labels }) => name === 'chat_config_reloads_total' && labels['result'] === 'failure',
    );
    expect(failures?.value).toBe(1);
  });

  it('is refused when an upstream does not fit its protocol', async () => {
    const { upstreams, models } = routesTo([next]);
    const acme = { ...upstreams['acme'], protocol: 'unheard-of' };
    await write(configFile({ upstreams: { acme }, models }));
    await waitFor(
      () => loggedBy(replicas[0], 'CONFIG_FILE.upstreams.acme.protocol: is not one of').length === 1,
      'the problem in the log',
    );
    // The one of before still serves.
    const after = await wireOf(await stream(origins[0] ?? '', { key }));
    expect(after).toMatchObject({ text: 'Hello world', terminal: 'done' });
  });

  it('is read on SIGHUP, with its tiers, and its unset variables are reported', async () => {
    const backup = { protocol: 'openai', base_url: 'http://127.0.0.1:9', api_key: '${BACKUP_KEY}' };
    await write(file(next, 'Newest', { free: { concurrent_streams: 1, requests_per_minute: 1 } }, { backup }));
    for (const replica of replicas) replica.signal('SIGHUP');
    for (const origin of origins) await waitFor(async () => (await nameAt(origin)) === 'Newest', 'the newest model');
    await waitFor(() => loggedBy(replicas[0], 'Unset variables: BACKUP_KEY').length > 0, 'the variable in the log');
    await waitFor(async () => (await stream(origins[0] ?? '', { key })).status === 429, 'the limit of the new tier');
    const logged = () => loggedBy(replicas[0], 'CONFIG_FILE has not changed').length;
    const before = logged();
    replicas[0]?.signal('SIGHUP');
    await waitFor(() => logged() > before, 'the answer to SIGHUP in the log');
  });
});
