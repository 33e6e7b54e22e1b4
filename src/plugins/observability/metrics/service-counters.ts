import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { UsageLedger } from '../../../usage/ledger/usage-ledger.js';
import { RequestMetrics } from './request-metrics.js';
import { StreamMetrics } from './stream-metrics.js';
import { RequestWatch } from '../requests/request-watch.js';

/** The counters of requests and streams since the start, for `/metrics` and for the status page. */
@Injectable()
export class ServiceCounters {
  readonly requests: RequestMetrics;
  readonly streams: StreamMetrics;

  constructor(@Inject(CONFIG) config: Config, watch: RequestWatch, ledger: UsageLedger) {
    this.requests = new RequestMetrics(config.tiers.values());
    this.streams = new StreamMetrics(config);
    watch.observe(this.requests);
    ledger.listen((record) => {
      this.streams.record(record);
    });
  }
}
