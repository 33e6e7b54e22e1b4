import { Injectable } from '@nestjs/common';
import {
  ChatPlugin,
  Histogram,
  type LedgerRow,
  type MetricFamily,
  type MetricsProvider,
  type UsageFeed,
} from 'chat-streaming-service';

const BOUNDS = [10, 100, 1_000, 10_000];

/** A histogram of the output tokens of each model. One replica at a time gets the records, so sum it over the replicas. */
@Injectable()
export class AnswerLengths implements UsageFeed, MetricsProvider {
  readonly name = 'answer-lengths';
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

  deliver(records: readonly LedgerRow[]): Promise<void> {
    for (const { model, outcome, completion_tokens: tokens } of records) {
      if (outcome === 'completed' && tokens !== null) this.of(model).add(tokens);
    }
    return Promise.resolve();
  }

  private of(model: string): Histogram {
    let histogram = this.byModel.get(model);
    if (histogram === undefined) this.byModel.set(model, (histogram = new Histogram(BOUNDS)));
    return histogram;
  }
}

@ChatPlugin({
  name: 'answer-lengths',
  compatibility: '^1',
  usageFeeds: [AnswerLengths],
  metrics: [AnswerLengths],
})
export class AnswerLengthsPlugin {}
