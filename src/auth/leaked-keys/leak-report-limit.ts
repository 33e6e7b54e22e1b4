import { Injectable } from '@nestjs/common';
import { AttemptCounters } from '../attempts/attempt-counters.js';
import { countAll } from '../attempts/count-attempt.js';
import { NetworkCounter } from '../attempts/network-counter.js';

/** A scanner puts the findings of one place into one request. */
const BY_NETWORK = { name: 'leak-reports:network', attempts: 60, withinSeconds: 60 };

/** Limits the reports of leaked keys from each network, because anyone can send reports. */
@Injectable()
export class LeakReportLimit {
  private readonly networks: NetworkCounter;

  constructor(counters: AttemptCounters) {
    this.networks = new NetworkCounter(counters, BY_NETWORK);
  }

  /**
   * @param address `request.ip`.
   * @throws {ServiceError} `rate_limit_exceeded`.
   */
  async count(address: string | undefined): Promise<void> {
    await countAll(this.networks.countsOf(address), 'Too many reports from your network. Try again later.');
  }
}
