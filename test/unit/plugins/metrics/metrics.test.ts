import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { Histogram } from '../../../../src/platform/common/counts/counters.js';
import type { MetricFamily } from '../../../../src/plugin-api/metrics.js';
import { checkedFamilies, registerPlugins } from '../../../../src/plugins/metrics/metrics.js';
import { readMetrics, valueOf } from '../../../support/metrics.js';

const seriesOf = async (registry: Registry) => readMetrics(await registry.metrics());

describe('the metrics of a plugin', () => {
  const family = (name: string, value = 1): MetricFamily => ({
    name,
    help: 'Ours.',
    type: 'gauge',
    samples: () => [[{}, value]],
  });

  it('are read anew at each scrape, histograms in their own unit', async () => {
    const registry = new Registry();
    const waits = new Histogram([500]);
    let value = 1;
    registerPlugins(registry, [
      { ...family('acme_queue'), type: 'gauge', samples: () => [[{}, value]] },
      {
        name: 'acme_wait_seconds',
        help: 'Ours.',
        type: 'histogram',
        label: 'kind',
        divisor: 1000,
        buckets: () => [['a', waits]],
      },
      { name: 'acme_words', help: 'Ours.', type: 'histogram', label: 'kind', buckets: () => [['a', waits]] },
    ]);
    await seriesOf(registry);
    value = 4;
    waits.add(400);
    const series = await seriesOf(registry);
    expect(valueOf(series, 'acme_queue')).toBe(4);
    expect(valueOf(series, 'acme_wait_seconds_sum', { kind: 'a' })).toBe(0.4);
    expect(valueOf(series, 'acme_wait_seconds_bucket', { le: '0.5' })).toBe(1);
    expect(valueOf(series, 'acme_words_sum')).toBe(400);
  });

  it.each(['chat_prompts_total', 'process_prompts', 'nodejs_prompts', 'Acme', 'acme-prompts', '1acme'])(
    'cannot have the name %s',
    (name) => {
      expect(() => checkedFamilies([{ families: [family(name)] }])).toThrow(`"${name}"`);
    },
  );

  it('cannot have a name twice, also in two plugins', () => {
    const provider = (...names: string[]) => ({ families: names.map((name) => family(name)) });
    expect(checkedFamilies([provider('acme_one'), provider('acme_two')])).toHaveLength(2);
    expect(() => checkedFamilies([provider('acme_one'), provider('acme_one')])).toThrow('"acme_one"');
  });
});
