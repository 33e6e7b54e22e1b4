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

/**
 * Parses the text format of Prometheus.
 *
 * @throws {Error} at the first invalid line.
 */
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

/** Reads `/metrics` of a service in this process. The service must have METRICS_PORT set. */
export async function scrape(service: Pick<RunningService, 'metricsOrigin'>): Promise<Series[]> {
  return readMetrics(await (await get(service.metricsOrigin(), '/metrics')).body());
}

/** The sum of all series with this name that have these labels. They may have further labels. */
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
