import { expect } from 'vitest';
import { configFile, routesTo } from '../support/catalog.js';
import { metricsOrigin, scrape } from '../support/metrics.js';
import { OtlpCollector } from '../support/otlp-collector.js';
import { Installation, type SpawnedProcess } from '../support/process.js';
import { closedPort } from '../support/silent-server.js';
import { get, stream } from '../support/sse-client.js';
import { waitFor } from '../support/wait-for.js';
import { notWithin, serving, type Effects } from './effect.js';

const FIRST_START = 'This is the first start';
const HEALTH = '/api/v1/health';

/** What the operator gets to see. */
export const observed: Effects = {
  NODE_ENV: {
    set: () =>
      inProcess({ NODE_ENV: 'production' }, async (service) => {
        await service.origin();
        service.signal('SIGTERM');
        expect((await service.exited).stdout).not.toContain(FIRST_START);
      }),
    unset: () =>
      inProcess({ NODE_ENV: '' }, async (service) => {
        await service.origin();
        await waitFor(() => service.stdout.includes(FIRST_START), 'the development account');
      }),
    refused: [['prod', 'NODE_ENV: must be one of production, development, test']],
  },
  LOG_LEVEL: {
    async set() {
      const port = await closedPort();
      await inProcess({ NODE_ENV: 'production', LOG_LEVEL: 'error', PORT: String(port) }, async (service) => {
        await waitFor(() => isHealthy(`http://127.0.0.1:${port}`), 'the service to answer', 60_000);
        service.signal('SIGTERM');
        expect((await service.exited).stdout).not.toContain('"level"');
      });
    },
    unset: () =>
      inProcess({ NODE_ENV: 'production' }, async (service) => {
        await service.origin();
        service.signal('SIGTERM');
        const levels = [...(await service.exited).stdout.matchAll(/"level":(\d+)/g)].map(([, level]) => Number(level));
        expect(Math.min(...levels)).toBe(30);
      }),
    refused: [
      ['loud', 'LOG_LEVEL: must be one of fatal, error, warn, info, debug, trace, silent'],
      ['INFO', 'LOG_LEVEL: must be one of fatal, error, warn, info, debug, trace, silent'],
    ],
  },
  METRICS_PORT: {
    async set() {
      const port = await closedPort();
      await serving({ env: { METRICS_PORT: String(port) } }, async ({ service }) => {
        expect(metricsOrigin(service.app)).toBe(`http://127.0.0.1:${port}`);
        expect((await scrape(service)).map(({ name }) => name)).toContain('chat_open_streams');
      });
    },
    unset: () =>
      serving({}, async ({ service, origin }) => {
        expect(() => metricsOrigin(service.app)).toThrow('no port for metrics');
        expect((await get(origin, '/metrics')).status).toBe(404);
      }),
    refused: notWithin('METRICS_PORT', 0, 65_535, 'on'),
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    set: () =>
      traced({}, async (collector) => {
        await collector.until('of the request', ({ name }) => name === 'POST /api/v1/chat/stream');
        expect(collector.paths[0]).toBe('/v1/traces');
      }),
    unset: () =>
      serving({}, async ({ origin, key, provider }) => {
        await stream(origin, { key });
        expect((await provider.call(1)).headers).not.toHaveProperty('traceparent');
      }),
    refused: [
      ['127.0.0.1:4318', 'OTEL_EXPORTER_OTLP_ENDPOINT: must be http://… or https://…'],
      ['grpc://collector', 'OTEL_EXPORTER_OTLP_ENDPOINT: must be http://… or https://…'],
    ],
  },
  OTEL_SERVICE_NAME: {
    set: () => traced({ OTEL_SERVICE_NAME: 'ours' }, (collector) => namedService(collector, 'ours')),
    unset: async () => {
      await traced({}, (collector) => namedService(collector, 'chat-streaming-service'));
      const env = { OTEL_RESOURCE_ATTRIBUTES: 'service.name=theirs' };
      await traced(env, (collector) => namedService(collector, 'theirs'));
    },
    refused: [],
  },
  OTEL_RESOURCE_ATTRIBUTES: {
    set: () =>
      traced(
        {
          OTEL_SERVICE_NAME: 'ours',
          OTEL_RESOURCE_ATTRIBUTES: 'service.name=theirs, team=a%2Cb ,service.version=7,empty=',
        },
        async (collector) => {
          const { resource } = await collector.until('of any kind', () => true);
          const expected = { 'service.name': 'ours', team: 'a,b', 'service.version': '7', empty: '' };
          expect(resource).toMatchObject(expected);
        },
      ),
    unset: () =>
      traced({}, async (collector) => {
        const { resource } = await collector.until('of any kind', () => true);
        expect(Object.keys(resource).sort()).toEqual([
          ...['process.pid', 'service.name', 'service.version', 'telemetry.sdk.language', 'telemetry.sdk.name'],
        ]);
      }),
    refused: [
      ['team', 'OTEL_RESOURCE_ATTRIBUTES: must be a list key=value,key=value'],
      ['team=%', 'OTEL_RESOURCE_ATTRIBUTES: must be a list key=value,key=value'],
    ],
  },
};

async function namedService(collector: OtlpCollector, name: string): Promise<void> {
  const { resource } = await collector.until('of any kind', () => true);
  expect(resource).toMatchObject({ 'service.name': name });
}

/** With one stream in the traces, which are sent when the service stops at the latest. */
async function traced(
  env: Readonly<Record<string, string>>,
  look: (collector: OtlpCollector) => Promise<void>,
): Promise<void> {
  const collector = await OtlpCollector.start();
  await serving({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.endpoint}/`, ...env } }, async ({ origin, key }) => {
    await stream(origin, { key });
  });
  await look(collector);
  await collector.stop();
}

async function inProcess(
  env: Readonly<Record<string, string>>,
  use: (service: SpawnedProcess) => Promise<void>,
): Promise<void> {
  const installation = await Installation.create(configFile(routesTo(['http://127.0.0.1:9'])));
  try {
    await use(installation.start(env));
  } finally {
    await installation.remove();
  }
}

function isHealthy(origin: string): Promise<boolean> {
  return get(origin, HEALTH).then(
    ({ status }) => status === 200,
    () => false,
  );
}
