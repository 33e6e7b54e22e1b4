import { expect } from 'vitest';
import { OtlpCollector } from '../support/otlp-collector.js';
import { stream } from '../support/sse-client.js';
import { notWithin, serving, type Effects } from './effect.js';

/** What the operator gets to see. */
export const observed: Effects = {
  NODE_ENV: {
    refused: [['prod', 'NODE_ENV: must be one of production, development, test']],
  },
  LOG_LEVEL: {
    refused: [
      ['loud', 'LOG_LEVEL: must be one of fatal, error, warn, info, debug, trace, silent'],
      ['INFO', 'LOG_LEVEL: must be one of fatal, error, warn, info, debug, trace, silent'],
    ],
  },
  METRICS_PORT: {
    refused: notWithin('METRICS_PORT', 0, 65_535, 'on'),
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    refused: [
      ['127.0.0.1:4318', 'OTEL_EXPORTER_OTLP_ENDPOINT: must be http://… or https://…'],
      ['grpc://collector', 'OTEL_EXPORTER_OTLP_ENDPOINT: must be http://… or https://…'],
    ],
  },
  OTEL_SERVICE_NAME: {
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
