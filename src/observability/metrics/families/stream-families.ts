import type { Registry } from 'prom-client';
import type { InterChunkLatencies } from '../../../chat/stream/inter-chunk-latencies.js';
import type { StreamMetrics } from '../stream-metrics.js';
import { counter } from './counter-and-gauge.js';
import { HistogramFamily } from './histogram-family.js';

const MS_PER_SECOND = 1000;

export function registerStreams(registry: Registry, metrics: StreamMetrics, latencies: InterChunkLatencies): void {
  counter(registry, {
    name: 'chat_streams_total',
    help: 'Finished streams, by outcome.',
    labels: ['model', 'outcome'],
    *samples() {
      for (const [model, { outcomes }] of metrics.models) {
        for (const [outcome, count] of outcomes) yield [{ model, outcome }, count];
      }
    },
  });
  counter(registry, {
    name: 'chat_surface_streams_total',
    help: 'Finished streams of compatible interfaces and of surfaces of plugins. `chat_streams_total` counts them, too.',
    labels: ['surface'],
    *samples() {
      for (const [surface, count] of metrics.surfaces) yield [{ surface }, count];
    },
  });
  counter(registry, {
    name: 'chat_stream_tokens_total',
    help: 'Known input and output tokens: reported by the provider, or estimated.',
    labels: ['model', 'kind', 'source'],
    *samples() {
      for (const [model, { tokens }] of metrics.models) {
        for (const [name, count] of tokens) {
          const [kind = '', source = ''] = name.split(' ');
          yield [{ model, kind, source }, count];
        }
      }
    },
  });
  histogramOfModels(
    'chat_stream_time_to_first_token_seconds',
    'The time from the admission of a stream to its first text.',
    'firstToken',
  );
  histogramOfModels('chat_stream_duration_seconds', 'The time from the admission of a stream to its end.', 'duration');
  new HistogramFamily(registry, {
    name: 'chat_stream_inter_chunk_latency_seconds',
    help: 'The time between two chunks of a stream, without the time in which the client was too slow.',
    label: 'model',
    divisor: MS_PER_SECOND,
    buckets: () => latencies.byModel,
  });

  function histogramOfModels(name: string, help: string, member: 'firstToken' | 'duration'): void {
    new HistogramFamily(registry, {
      name,
      help,
      label: 'model',
      divisor: MS_PER_SECOND,
      *buckets() {
        for (const [model, ofModel] of metrics.models) if (ofModel.isUsed) yield [model, ofModel[member]];
      },
    });
  }
}
