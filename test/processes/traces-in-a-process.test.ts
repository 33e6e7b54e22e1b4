import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { configFile, routesTo } from '../support/catalog.js';
import { OtlpCollector } from '../support/otlp-collector.js';
import { Installation, SpawnedProcess } from '../support/process.js';
import { ScriptedProvider } from '../../src/testing/provider/scripted-provider.js';
import { stream } from '../support/sse-client.js';
import { waitFor } from '../support/wait-for.js';

/** Has Node find nothing of OpenTelemetry's SDK, as where optional packages were left out. */
const HOOKS = `export async function resolve(name, context, next) {
  if (/^@opentelemetry\\/(sdk|exporter)/.test(name)) throw Object.assign(new Error('none'), { code: 'ERR_MODULE_NOT_FOUND' });
  return next(name, context);
}`;
const asUrl = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`;
const WITHOUT_SDK = asUrl(`import { register } from 'node:module'; register(${JSON.stringify(asUrl(HOOKS))});`);

describe('a process with traces', () => {
  let installation: Installation;
  let provider: ScriptedProvider;
  let key: string;

  beforeAll(async () => {
    provider = await ScriptedProvider.start();
    installation = await Installation.create(configFile(routesTo([provider])));
    ({ key } = await installation.createKey());
  });
  afterAll(async () => {
    await installation.remove();
    await provider.stop();
  });

  it('sends what is left when it stops', async () => {
    const collector = await OtlpCollector.start();
    const service = installation.start({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint });
    await stream(await service.origin(), { key });

    service.signal('SIGTERM');

    expect((await service.exited).code).toBe(0);
    const server = collector.spans.find(({ name }) => name === 'POST /api/v1/chat/stream');
    expect(server?.resource).toMatchObject({ 'service.name': 'chat-streaming-service' });
    expect(service.stdout).toContain(`"traceId":"${server?.traceId ?? 'none'}"`);
    await collector.stop();
  });

  it('serves, and stops, without a collector, and says so once', async () => {
    const service = installation.start({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
      OTEL_BSP_SCHEDULE_DELAY: '50',
      OTEL_EXPORTER_OTLP_TIMEOUT: '300',
    });
    const origin = await service.origin();
    const lines = () => service.stdout.split('\n').filter((line) => line.includes('"Tracing"'));
    for (let count = 0; count < 3; count++) expect((await stream(origin, { key })).status).toBe(200);
    await waitFor(() => lines().length > 0, 'word of the collector');
    for (let count = 0; count < 3; count++) expect((await stream(origin, { key })).status).toBe(200);

    service.signal('SIGTERM');

    expect((await service.exited).code).toBe(0);
    expect(lines()).toHaveLength(1);
    expect(service.stderr).toBe('');
  });

  it('of another package does not start without the optional packages, and names them', async () => {
    const { code, stderr } = await startOwn({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
      NODE_OPTIONS: `--import=${WITHOUT_SDK}`,
    }).exited;

    expect(code).toBe(1);
    expect(stderr).toMatch(/OTEL_EXPORTER_OTLP_ENDPOINT: .*@opentelemetry\/sdk-trace-node/);
    expect(stderr).not.toMatch(/\bat .*:\d+:\d+/);
  });

  it('of another package starts without them while traces are off', async () => {
    const service = startOwn({ NODE_OPTIONS: `--import=${WITHOUT_SDK}` });
    try {
      expect((await stream(await service.origin(), { key })).status).toBe(200);
    } finally {
      await service.stop();
    }
  });

  it('of the service itself has the packages in its bundle', async () => {
    const collector = await OtlpCollector.start();
    const service = installation.start({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
      NODE_OPTIONS: `--import=${WITHOUT_SDK}`,
    });
    await stream(await service.origin(), { key });
    service.signal('SIGTERM');
    expect((await service.exited).code).toBe(0);
    expect(collector.spans.map(({ name }) => name)).toContain('POST /api/v1/chat/stream');
    await collector.stop();
  });

  /** Starts the service as a package that embeds the service does: without the bundle. */
  function startOwn(env: Readonly<Record<string, string>>): SpawnedProcess {
    const main = join(installation.folder, 'main.mjs');
    const entry = new URL('../../dist/index.js', import.meta.url).href;
    writeFileSync(
      main,
      `import { AppModule, bootstrap } from '${entry}';\nawait bootstrap(() => AppModule.register());\n`,
    );
    return new SpawnedProcess(main, [], { ...installation.env, ...env });
  }
});
