import type { Registry } from 'prom-client';
import type { DurableStreamCounts } from '../../../plugin-api/durable-stream-counts.js';
import type { MetricsSources } from '../metrics-sources.js';
import { counter, gauge } from './metric-types.js';

export function registerStores(
  registry: Registry,
  { database, ledger, limitFallback, redis, webhooks }: MetricsSources,
): void {
  gauge(registry, {
    name: 'chat_database_up',
    help: '1 if the database is available. At 0, the service trusts credentials that were valid within the last 10 minutes.',
    samples: () => [[{}, Number(!database.isUnavailable)]],
  });
  gauge(registry, {
    name: 'chat_ledger_queued_records',
    help: 'Usage records that are not written to the database yet.',
    samples: () => [[{}, ledger.queued]],
  });
  counter(registry, {
    name: 'chat_ledger_lost_records_total',
    help: 'Usage records lost because the database was unavailable for too long.',
    samples: () => [[{}, ledger.lost]],
  });
  counter(registry, {
    name: 'chat_ledger_write_failures_total',
    help: 'Failed attempts to write usage records. The service retries these records.',
    samples: () => [[{}, ledger.writeFailures]],
  });
  counter(registry, {
    name: 'chat_ledger_dead_letter_records_total',
    help: 'Usage records that the database refused because of their data. They are in the table usage_dead_letters, or in the log.',
    samples: () => [[{}, ledger.deadLetter]],
  });
  if (webhooks !== undefined) {
    counter(registry, {
      name: 'chat_webhook_attempts_total',
      help: 'Attempts to send an event to a webhook: delivered, to be sent again (retried), or given up (failed).',
      labels: ['result'],
      *samples() {
        for (const [result, count] of webhooks.results) yield [{ result }, count];
      },
    });
  }
  if (redis === undefined) return;
  gauge(registry, {
    name: 'chat_redis_up',
    help: '1 if Redis is available, in a cluster all masters. At 0, each replica admits its share of the limits.',
    samples: () => [[{}, Number(!redis.isUnavailable)]],
  });
  counter(registry, {
    name: 'chat_limit_fallback_admissions_total',
    help: 'Requests admitted by the share of this replica while Redis was unavailable.',
    samples: () => [[{}, limitFallback.admissions]],
  });
  gauge(registry, {
    name: 'chat_replicas',
    help: 'The last known number of replicas that share the limits.',
    samples: () => [[{}, limitFallback.replicas]],
  });
}

export function registerDurable(registry: Registry, durable: DurableStreamCounts): void {
  gauge(registry, {
    name: 'chat_durable_streams',
    help: 'Durable streams: running, or kept in the memory of this process after their end. Redis keeps its streams itself.',
    labels: ['state'],
    *samples() {
      const { running, retained } = durable.counts;
      yield [{ state: 'running' }, running];
      yield [{ state: 'kept' }, retained];
    },
  });
  gauge(registry, {
    name: 'chat_durable_stream_bytes',
    help: 'The memory of this process that durable streams use, limited by STREAM_MEMORY_MB.',
    samples: () => [[{}, durable.usedBytes]],
  });
  counter(registry, {
    name: 'chat_durable_replays_total',
    help: 'Requests that got a durable stream which another request had begun.',
    samples: () => [[{}, durable.replays]],
  });
}
