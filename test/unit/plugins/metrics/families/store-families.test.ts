import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { registerStores } from '../../../../../src/plugins/metrics/families/store-families.js';
import type { MetricsSources } from '../../../../../src/plugins/metrics/metrics-sources.js';
import { readMetrics, valueOf } from '../../../../support/metrics.js';

const seriesOf = async (registry: Registry) => readMetrics(await registry.metrics());

describe('the metrics of the stores', () => {
  const seriesWith = (sources: object) => {
    const registry = new Registry();
    registerStores(registry, { webhooks: { results: [] }, ...sources } as unknown as MetricsSources);
    return seriesOf(registry);
  };
  const ledger = { queued: 2, lost: 3, writeFailures: 5, deadLetter: 7 };
  const limitFallback = { admissions: 11, replicas: 13 };
  const [away, there] = [{ isUnavailable: true }, { isUnavailable: false }];

  it('show which store is unavailable, and what the service does meanwhile', async () => {
    const series = await seriesWith({ database: away, ledger, limitFallback, redis: there });
    expect(Object.fromEntries(series.map(({ name, value }) => [name, value]))).toEqual({
      chat_database_up: 0,
      chat_ledger_queued_records: 2,
      chat_ledger_lost_records_total: 3,
      chat_ledger_write_failures_total: 5,
      chat_ledger_dead_letter_records_total: 7,
      chat_redis_up: 1,
      chat_limit_fallback_admissions_total: 11,
      chat_replicas: 13,
    });
    const others = await seriesWith({ database: there, ledger, limitFallback, redis: away });
    expect([valueOf(others, 'chat_database_up'), valueOf(others, 'chat_redis_up')]).toEqual([1, 0]);
  });

  it('say nothing of Redis where there is none', async () => {
    const series = await seriesWith({ database: there, ledger, limitFallback, redis: undefined });
    expect(series.filter(({ name }) => /redis|limits/.test(name))).toEqual([]);
  });
});
