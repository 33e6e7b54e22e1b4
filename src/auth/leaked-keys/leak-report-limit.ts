import { Injectable } from '@nestjs/common';
import { AttemptCounters, type AttemptCounter } from '../attempts/attempt-counters.js';
import { countAll, keyOf } from '../attempts/count-attempt.js';
import { networkOf, siteOf } from '../network/client-network.js';

/** A scanner puts the findings of one place into one request. */
const BY_NETWORK = { name: 'leak-reports:network', attempts: 60, withinSeconds: 60 };
const BY_SITE = { name: 'leak-reports:site', attempts: 600, withinSeconds: 60 };

/** Limits the reports of leaked keys from each network, because anyone can send reports. */
@Injectable()
export class LeakReportLimit {
  private readonly byNetwork: AttemptCounter;
  private readonly bySite: AttemptCounter;

  constructor(counters: AttemptCounters) {
    this.byNetwork = counters.counter(BY_NETWORK);
    this.bySite = counters.counter(BY_SITE);
  }

  /**
   * @param address `request.ip`.
   * @throws {ServiceError} `rate_limit_exceeded`.
   */
  async count(address: string | undefined): Promise<void> {
    await countAll(
      [
        [this.byNetwork, keyOf(networkOf(address))],
        [this.bySite, keyOf(siteOf(address))],
      ],
      'Too many reports from your network. Try again later.',
    );
  }
}
