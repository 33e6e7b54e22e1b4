import { Histogram } from '../../common/counts/histogram.js';
import { LabeledCounter } from '../../common/counts/labeled-counter.js';
import { ERRORS, factsOf, type ErrorCode } from '../../common/service-error.js';
import type { Config } from '../../config/config.js';
import type { AttemptTrace } from '../../upstreams/completion/call-trace.js';
import { STREAM_OUTCOMES, type StreamOutcome } from '../../usage/record/stream-outcome.js';
import type { TokenCount, UsageRecord } from '../../usage/record/usage-record.js';
import type { UsageSink } from '../../usage/record/usage-sink.js';

/** The bounds of the buckets, in milliseconds. */
const FIRST_TOKEN_BOUNDS = [50, 100, 200, 400, 700, 1_000, 1_500, 2_000, 3_000, 5_000, 10_000, 20_000, 60_000, 120_000];
const DURATION_BOUNDS = [100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 120_000, 300_000, 600_000];

/** All outcomes except `interrupted`. A killed process cannot count its streams: other replicas record them in the ledger. */
const SEEN_OUTCOMES = STREAM_OUTCOMES.filter((outcome) => outcome !== 'interrupted');

/** The errors of an attempt that can occur at every upstream. */
const ATTEMPT_ERRORS = (Object.keys(ERRORS) as ErrorCode[]).filter(
  (code) => factsOf(code).fault === 'provider' || code === 'upstream_rejected' || code === 'content_filtered',
);

class ModelMetrics {
  /** Whether a stream of the model has ended. */
  isUsed = false;
  readonly outcomes = new LabeledCounter<StreamOutcome>(SEEN_OUTCOMES);
  readonly firstToken = new Histogram(FIRST_TOKEN_BOUNDS);
  readonly duration = new Histogram(DURATION_BOUNDS);
  /** The keys are `<kind> <source>`. */
  readonly tokens = new LabeledCounter();
}

class UpstreamMetrics {
  attempts = 0;
  failovers = 0;
  readonly errors = new LabeledCounter<ErrorCode>(ATTEMPT_ERRORS);
  readonly firstToken = new Histogram(FIRST_TOKEN_BOUNDS);
  readonly duration = new Histogram(DURATION_BOUNDS);
}

/** Counts finished streams and their attempts. Models and upstreams come from the configuration. */
export class StreamMetrics implements UsageSink {
  readonly models: Map<string, ModelMetrics>;
  /** Finished streams of each surface. Surfaces are declared in code, so their number is fixed. */
  readonly surfaces = new LabeledCounter();
  readonly upstreams: Map<string, UpstreamMetrics>;

  constructor({ models, upstreams }: Pick<Config, 'models' | 'upstreams'>) {
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

  private countAttempt({ upstream, code, firstTextMs, durationMs }: AttemptTrace, wasFollowed: boolean): void {
    // An upstream that a changed configuration has added. The names come from configurations only.
    let metrics = this.upstreams.get(upstream);
    if (metrics === undefined) this.upstreams.set(upstream, (metrics = new UpstreamMetrics()));
    metrics.attempts++;
    if (wasFollowed) metrics.failovers++;
    if (code !== undefined) metrics.errors.add(code);
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
