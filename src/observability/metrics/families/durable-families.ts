import type { Registry } from 'prom-client';
import type { MetricsSources } from '../metrics-sources.js';
import { counter, gauge } from './counter-and-gauge.js';

export function registerDurable(registry: Registry, { durable, streamMemory }: MetricsSources): void {
  gauge(registry, {
    name: 'chat_durable_streams',
    help: 'Durable streams: running, or kept in the memory of this process after their end. Redis keeps its streams itself.',
    labels: ['state'],
    *samples() {
      const { running, retained } = durable.store.counts;
      yield [{ state: 'running' }, running];
      yield [{ state: 'kept' }, retained];
    },
  });
  gauge(registry, {
    name: 'chat_durable_stream_bytes',
    help: 'The memory of this process that durable streams use, limited by STREAM_MEMORY_MB.',
    samples: () => [[{}, streamMemory.used]],
  });
  counter(registry, {
    name: 'chat_durable_replays_total',
    help: 'Requests that got a durable stream which another request had begun.',
    samples: () => [[{}, durable.replays]],
  });
}
