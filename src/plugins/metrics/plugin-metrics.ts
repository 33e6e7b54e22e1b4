import type { Registry } from 'prom-client';
import type { MetricFamily, MetricsProvider } from '../../plugin-api/metrics.js';
import { counter, gauge, HistogramFamily } from './families/metric-types.js';

const NAME = /^[a-z][a-z0-9_]*$/;
const OF_THE_SERVICE = /^(?:chat|process|nodejs)_/;

/** @throws {Error} when a name is invalid, belongs to the service, or appears twice. */
export function checkedFamilies(providers: readonly MetricsProvider[]): readonly MetricFamily[] {
  const families = providers.flatMap((provider) => provider.families);
  const names = new Set<string>();
  for (const { name } of families) {
    if (!NAME.test(name) || OF_THE_SERVICE.test(name) || names.has(name)) {
      throw new Error(`The metric "${name}" of a plugin needs a name of its own, such as acme_prompts_total.`);
    }
    names.add(name);
  }
  return families;
}

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
