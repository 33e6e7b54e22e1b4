import { Buckets } from '../../common/counts/buckets.js';
import { Tally } from '../../common/counts/tally.js';
import type { ErrorCode } from '../../common/service-error.js';
import type { AttemptTrace } from '../../upstreams/completion/call-trace.js';
import { STREAM_OUTCOMES, type StreamOutcome } from '../../usage/record/stream-outcome.js';
import type { TokenCount, UsageRecord } from '../../usage/record/usage-record.js';
import type { UsageSink } from '../../usage/record/usage-sink.js';

/** The bounds of the buckets, in milliseconds. */
const FIRST_TOKEN_BOUNDS = [50, 100, 200, 400, 700, 1_000, 1_500, 2_000, 3_000, 5_000, 10_000, 20_000, 60_000, 120_000];
const DURATION_BOUNDS = [100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 120_000, 300_000, 600_000];

/** All outcomes except `interrupted`. A killed process cannot count its streams: other replicas record them in the ledger. */
const SEEN_OUTCOMES = STREAM_OUTCOMES.filter((outcome) => outcome !== 'interrupted');

class ModelFigures {
  readonly outcomes = new Tally<StreamOutcome>(SEEN_OUTCOMES);
  readonly firstToken = new Buckets(FIRST_TOKEN_BOUNDS);
  readonly duration = new Buckets(DURATION_BOUNDS);
  /** The keys are `<kind> <source>`. */
  readonly tokens = new Tally();
}

class UpstreamFigures {
  attempts = 0;
  failovers = 0;
  readonly errors = new Tally<ErrorCode>();
  readonly firstToken = new Buckets(FIRST_TOKEN_BOUNDS);
  readonly duration = new Buckets(DURATION_BOUNDS);
}

/** Counts finished streams and their attempts. Models and upstreams come from the configuration. */
export class StreamFigures implements UsageSink {
  readonly models = new Map<string, ModelFigures>();
  readonly upstreams: Map<string, UpstreamFigures>;

  constructor(upstreams: Iterable<string>) {
    this.upstreams = new Map([...upstreams].map((name) => [name, new UpstreamFigures()]));
  }

  record({ model, outcome, startedAt, firstTextAt, endedAt, inputTokens, outputTokens, attempts }: UsageRecord): void {
    const figures = this.ofModel(model);
    figures.outcomes.add(outcome);
    if (firstTextAt !== undefined) figures.firstToken.add(firstTextAt - startedAt);
    if (endedAt !== undefined) figures.duration.add(endedAt - startedAt);
    countTokens(figures.tokens, 'prompt', inputTokens);
    countTokens(figures.tokens, 'completion', outputTokens);
    attempts.forEach((attempt, index) => {
      this.countAttempt(attempt, index < attempts.length - 1);
    });
  }

  private countAttempt({ upstream, code, firstTextMs, durationMs }: AttemptTrace, wasFollowed: boolean): void {
    const figures = this.upstreams.get(upstream);
    if (figures === undefined) return;
    figures.attempts++;
    if (wasFollowed) figures.failovers++;
    if (code !== undefined) figures.errors.add(code);
    if (firstTextMs !== undefined) figures.firstToken.add(firstTextMs);
    if (durationMs !== undefined) figures.duration.add(durationMs);
  }

  private ofModel(model: string): ModelFigures {
    let figures = this.models.get(model);
    if (figures === undefined) this.models.set(model, (figures = new ModelFigures()));
    return figures;
  }
}

function countTokens(tally: Tally, kind: 'prompt' | 'completion', { count, source }: TokenCount): void {
  if (count === undefined) return;
  tally.add(`${kind} ${source}`, count);
}
