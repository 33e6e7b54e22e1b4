import type { Registry } from 'prom-client';
import type { MetricFamily } from '../plugin-metrics.js';
import { counter, gauge } from './counter-and-gauge.js';
import { HistogramFamily } from './histogram-family.js';

/** Registers the metrics of plugins. */
export function registerPlugins(registry: Registry, families: readonly MetricFamily[]): void {
  for (const family of families) {
    switch (family.type) {
      case 'counter':
        counter<string>(registry, { ...family, samples: () => family.samples() });
        break;
      case 'gauge':
        gauge<string>(registry, { ...family, samples: () => family.samples() });
        break;
      case 'histogram':
        new HistogramFamily(registry, { divisor: 1, ...family, buckets: () => family.buckets() });
        break;
    }
  }
}
