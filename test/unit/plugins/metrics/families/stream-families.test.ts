import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { InterChunkLatencies } from '../../../../../src/chat/stream/inter-chunk-latencies.js';
import { registerStreams, StreamMetrics } from '../../../../../src/plugins/metrics/families/stream-families.js';
import { registerUpstreams } from '../../../../../src/plugins/metrics/families/upstream-families.js';
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
});
