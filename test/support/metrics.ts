import { MetricsServer } from '../../src/observability/metrics/metrics-server.js';
import { get } from './sse-client.js';
import type { RunningService } from './service.js';

/** One line of `/metrics`. */
export interface Series {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const LINE = /^([a-z_]\w*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)",?/g;

/** Reads the text format of Prometheus. Throws at the first line that is none of it. */
export function readMetrics(text: string): Series[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('# '))
    .map((line) => {
      const [, name = '', labels = '', value = ''] = LINE.exec(line) ?? [];
      if (name === '') throw new Error(`Not a line of metrics: ${line}`);
      const pairs = [...labels.matchAll(LABEL)].map(([, label = '', content = '']) => [label, content] as const);
      return { name, labels: Object.fromEntries(pairs), value: value === 'Nan' ? NaN : Number(value) };
    });
}

/** What `/metrics` shows of a service in this process that has METRICS_PORT set. */
export async function scrape({ app }: RunningService): Promise<Series[]> {
  return readMetrics(await (await get(metricsOrigin(app), '/metrics')).body());
}

export function metricsOrigin(app: RunningService['app']): string {
  const { port } = app.get(MetricsServer, { strict: false }).address ?? {};
  if (port === undefined) throw new Error('There is no port for metrics.');
  return `http://127.0.0.1:${port}`;
}

/** The sum of all series of that name whose labels are these. */
export function valueOf(
  series: readonly Series[],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number {
  return series
    .filter((one) => one.name === name && Object.entries(labels).every(([label, value]) => one.labels[label] === value))
    .reduce((sum, { value }) => sum + value, 0);
}

export function identityOf({ name, labels }: Series): string {
  return `${name}${JSON.stringify(labels)}`;
}
