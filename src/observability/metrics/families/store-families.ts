import type { Registry } from 'prom-client';
import type { MetricsSources } from '../metrics-sources.js';
import { counter, gauge } from './counter-and-gauge.js';

export function registerStores(registry: Registry, { database, ledger, limitFallback, redis }: MetricsSources): void {
  gauge(registry, {
    name: 'chat_database_away',
    help: '1 while the database is away, and credentials that were valid within the last 10 minutes are trusted.',
    samples: () => [[{}, Number(database.isUnavailable)]],
  });
  gauge(registry, {
    name: 'chat_ledger_queued_records',
    help: 'Records of streams that are not written to the database yet.',
    samples: () => [[{}, ledger.queued]],
  });
  counter(registry, {
    name: 'chat_ledger_lost_records_total',
    help: 'Records given up, as the database was away for too long.',
    samples: () => [[{}, ledger.lost]],
  });
  counter(registry, {
    name: 'chat_ledger_write_failures_total',
    help: 'Rounds of writing that failed. What they should have written waits.',
    samples: () => [[{}, ledger.writeFailures]],
  });
  counter(registry, {
    name: 'chat_ledger_set_aside_records_total',
    help: 'Records that the database refuses for their data. They are in the table usage_set_aside, or in the log.',
    samples: () => [[{}, ledger.setAside]],
  });
  if (redis === undefined) return;
  gauge(registry, {
    name: 'chat_redis_away',
    help: '1 while Redis does not answer, and each replica lets in its share of the limits.',
    samples: () => [[{}, Number(redis.isUnavailable)]],
  });
  counter(registry, {
    name: 'chat_limits_admissions_without_redis_total',
    help: 'Requests admitted by the share of this replica, as Redis was away.',
    samples: () => [[{}, limitFallback.admissions]],
  });
  gauge(registry, {
    name: 'chat_limits_replicas',
    help: 'Replicas that share the limits, as it was last seen.',
    samples: () => [[{}, limitFallback.replicas]],
  });
}
