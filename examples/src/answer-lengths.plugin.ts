import { Injectable } from '@nestjs/common';
import {
  ChatPlugin,
  Histogram,
  type MetricFamily,
  type MetricsProvider,
  type UsageRecord,
  type UsageSink,
} from 'chat-streaming-service';

const BOUNDS = [10, 100, 1_000, 10_000];

/** A histogram of the output tokens of each model. Counting costs nothing else than an addition, also without METRICS_PORT. */
@Injectable()
export class AnswerLengths implements UsageSink, MetricsProvider {
  private readonly byModel = new Map<string, Histogram>();

  readonly families: readonly MetricFamily[] = [
    {
      type: 'histogram',
      name: 'acme_answer_tokens',
      help: 'The output tokens of complete answers.',
      label: 'model',
      buckets: () => this.byModel,
    },
  ];

  record({ model, outcome, outputTokens: { count } }: UsageRecord): void {
    if (outcome !== 'completed' || count === undefined) return;
    let histogram = this.byModel.get(model);
    if (histogram === undefined) this.byModel.set(model, (histogram = new Histogram(BOUNDS)));
    histogram.add(count);
  }
}

@ChatPlugin({
  name: 'answer-lengths',
  compatibility: '^1',
  usageSinks: [AnswerLengths],
  metrics: [AnswerLengths],
})
export class AnswerLengthsPlugin {}
