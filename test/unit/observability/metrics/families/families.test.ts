import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { InterChunkLatencies } from '../../../../../src/chat/stream/inter-chunk-latencies.js';
import { Histogram } from '../../../../../src/common/counts/histogram.js';
import { registerPlugins } from '../../../../../src/observability/metrics/families/plugin-families.js';
import { registerStores } from '../../../../../src/observability/metrics/families/store-families.js';
import { registerStreams } from '../../../../../src/observability/metrics/families/stream-families.js';
import { registerUpstreams } from '../../../../../src/observability/metrics/families/upstream-families.js';
import type { MetricsSources } from '../../../../../src/observability/metrics/metrics-sources.js';
import { checkedFamilies, type MetricFamily } from '../../../../../src/observability/metrics/plugin-metrics.js';
import { StreamMetrics } from '../../../../../src/observability/metrics/stream-metrics.js';
import { RouteStates } from '../../../../../src/upstreams/routing/route-states.js';
import type { UsageRecord } from '../../../../../src/usage/record/usage-record.js';
import { over } from '../../../../contract/usage/records.js';
import { readMetrics, valueOf } from '../../../../support/metrics.js';

const MODEL = 'acme/fast';

const seriesOf = async (registry: Registry) => readMetrics(await registry.metrics());

describe('the metrics of streams', () => {
  const attempt = { startedMs: 0, accepted: true, code: undefined };
  const RECORD: UsageRecord = {
    ...over(),
    model: MODEL,
    startedAt: 10_000,
    firstTextAt: 11_500,
    endedAt: 14_000,
    inputTokens: { source: 'reported', count: 3 },
    outputTokens: { source: 'estimated', count: 7 },
    attempts: [{ ...attempt, upstream: 'acme', firstTextMs: 900, durationMs: 2_600 }],
  };

  const seriesAfter = async (...records: UsageRecord[]) => {
    const registry = new Registry();
    const metrics = new StreamMetrics({ models: [], upstreams: new Map() });
    for (const record of records) metrics.record(record);
    registerStreams(registry, metrics, new InterChunkLatencies());
    registerUpstreams(registry, metrics, new RouteStates());
    return seriesOf(registry);
  };

  it('have the times from the start of the stream and of the attempt, in seconds', async () => {
    const series = await seriesAfter(RECORD);
    const [model, upstream] = [{ model: MODEL }, { upstream: 'acme' }];
    expect(valueOf(series, 'chat_stream_time_to_first_token_seconds_sum', model)).toBe(1.5);
    expect(valueOf(series, 'chat_stream_duration_seconds_sum', model)).toBe(4);
    expect(valueOf(series, 'chat_upstream_time_to_first_token_seconds_sum', upstream)).toBe(0.9);
    expect(valueOf(series, 'chat_upstream_attempt_duration_seconds_sum', upstream)).toBe(2.6);
  });

  it('count each time in all buckets from its own on', async () => {
    const series = await seriesAfter(RECORD, { ...RECORD, endedAt: 10_400 });
    const upTo = (le: string) => valueOf(series, 'chat_stream_duration_seconds_bucket', { model: MODEL, le });
    expect(['0.25', '0.5', '2.5', '5', '600', '+Inf'].map(upTo)).toEqual([0, 1, 1, 2, 2, 2]);
    expect(valueOf(series, 'chat_stream_duration_seconds_count')).toBe(2);
  });

  it('count the tokens of the prompt and of the answer by their source, and none that is unknown', async () => {
    const series = await seriesAfter(RECORD, { ...RECORD, outputTokens: { source: 'unknown' } });
    const tokens = (kind: string, source: string) =>
      valueOf(series, 'chat_stream_tokens_total', { model: MODEL, kind, source });
    expect([tokens('input', 'reported'), tokens('output', 'estimated')]).toEqual([6, 7]);
    expect(valueOf(series, 'chat_stream_tokens_total')).toBe(13);
  });

  it('count a failover for each attempt but the last', async () => {
    const failed = {
      ...attempt,
      upstream: 'acme',
      code: 'upstream_error',
      firstTextMs: undefined,
      durationMs: 5,
    } as const;
    const answered = { ...attempt, upstream: 'backup', firstTextMs: 5, durationMs: 9 };
    const series = await seriesAfter({ ...RECORD, attempts: [failed, failed, answered] });
    expect(valueOf(series, 'chat_upstream_failovers_total', { upstream: 'acme' })).toBe(2);
    expect(valueOf(series, 'chat_upstream_failovers_total', { upstream: 'backup' })).toBe(0);
    expect(valueOf(series, 'chat_upstream_errors_total', { upstream: 'acme', code: 'upstream_error' })).toBe(2);
  });
});

describe('the metrics of the stores', () => {
  const seriesWith = (sources: object) => {
    const registry = new Registry();
    registerStores(registry, sources as MetricsSources);
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
