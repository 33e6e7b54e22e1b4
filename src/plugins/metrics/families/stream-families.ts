import { Inject, Injectable } from '@nestjs/common';
import { Histogram, LabeledCounter } from '../../../plugin-api/core/common.js';
import { type Config, CONFIG } from '../../../plugin-api/core/config.js';
import type { AttemptTrace } from '../../../plugin-api/core/upstreams.js';
import {
  STREAM_OUTCOMES,
  type StreamOutcome,
  type TokenCount,
  type UsageRecord,
} from '../../../plugin-api/core/usage.js';
import type { Registry } from 'prom-client';
import type { InterChunkLatencies } from '../../../plugin-api/core/chat.js';
import { counter, HistogramFamily } from './metric-types.js';

/** The bounds of the buckets, in milliseconds. */
const FIRST_TOKEN_BOUNDS = [50, 100, 200, 400, 700, 1_000, 1_500, 2_000, 3_000, 5_000, 10_000, 20_000, 60_000, 120_000];
const DURATION_BOUNDS = [100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 120_000, 300_000, 600_000];

/** The errors of an attempt that can occur at every upstream, with their kinds. An alert sees an increase only from a known 0. */
const ATTEMPT_ERRORS = [
  ...['unauthorized', 'credentials_unavailable', 'server', 'connection', 'protocol', 'rejected'].map(
    (kind) => `upstream_error ${kind}`,
  ),
  ...['rate_limited', 'server'].map((kind) => `upstream_unavailable ${kind}`),
  'upstream_timeout timeout',
  'upstream_rejected rejected',
  'content_filtered rejected',
];

class ModelMetrics {
  /** Whether a stream of the model has ended. */
  isUsed = false;
  readonly outcomes = new LabeledCounter<StreamOutcome>(STREAM_OUTCOMES);
  readonly firstToken = new Histogram(FIRST_TOKEN_BOUNDS);
  readonly duration = new Histogram(DURATION_BOUNDS);
  /** The keys are `<kind> <source>`. */
  readonly tokens = new LabeledCounter();
}

class UpstreamMetrics {
  attempts = 0;
  failovers = 0;
  /** The keys are `<code> <kind>`. */
  readonly errors = new LabeledCounter(ATTEMPT_ERRORS);
  readonly firstToken = new Histogram(FIRST_TOKEN_BOUNDS);
  readonly duration = new Histogram(DURATION_BOUNDS);
}

/** Counts finished streams and their attempts. Models and upstreams come from the configuration. */
@Injectable()
export class StreamMetrics {
  readonly models: Map<string, ModelMetrics>;
  /** Finished streams of each surface. Surfaces are declared in code, so their number is fixed. */
  readonly surfaces = new LabeledCounter();
  readonly upstreams: Map<string, UpstreamMetrics>;

  constructor(@Inject(CONFIG) { models, upstreams }: Pick<Config, 'models' | 'upstreams'>) {
    this.models = new Map(models.map(({ id }) => [id, new ModelMetrics()]));
    this.upstreams = new Map([...upstreams.keys()].map((name) => [name, new UpstreamMetrics()]));
  }

  record(record: UsageRecord): void {
    const { model, surface, outcome, startedAt, firstTextAt, endedAt, inputTokens, outputTokens, attempts } = record;
    if (surface !== undefined) this.surfaces.add(surface);
    const metrics = this.ofModel(model);
    metrics.isUsed = true;
    metrics.outcomes.add(outcome);
    if (firstTextAt !== undefined) metrics.firstToken.add(firstTextAt - startedAt);
    if (endedAt !== undefined) metrics.duration.add(endedAt - startedAt);
    countTokens(metrics.tokens, 'input', inputTokens);
    countTokens(metrics.tokens, 'output', outputTokens);
    attempts.forEach((attempt, index) => {
      this.countAttempt(attempt, index < attempts.length - 1);
    });
  }

  private countAttempt({ upstream, code, cause, firstTextMs, durationMs }: AttemptTrace, wasFollowed: boolean): void {
    // An upstream that a changed configuration has added. The names come from configurations only.
    let metrics = this.upstreams.get(upstream);
    if (metrics === undefined) this.upstreams.set(upstream, (metrics = new UpstreamMetrics()));
    metrics.attempts++;
    if (wasFollowed) metrics.failovers++;
    if (code !== undefined) metrics.errors.add(`${code} ${cause?.kind ?? 'protocol'}`);
    if (firstTextMs !== undefined) metrics.firstToken.add(firstTextMs);
    if (durationMs !== undefined) metrics.duration.add(durationMs);
  }

  private ofModel(model: string): ModelMetrics {
    let metrics = this.models.get(model);
    if (metrics === undefined) this.models.set(model, (metrics = new ModelMetrics()));
    return metrics;
  }
}

function countTokens(counter: LabeledCounter, kind: 'input' | 'output', { count, source }: TokenCount): void {
  if (count === undefined) return;
  counter.add(`${kind} ${source}`, count);
}

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
