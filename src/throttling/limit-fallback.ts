import { Inject, Injectable, Optional } from '@nestjs/common';
import type { Membership } from '../platform/redis/membership.js';
import { MEMBERSHIP } from '../platform/redis/redis-connection.js';

/** The fallback while Redis is unavailable: each replica admits its share of the limits, and counts in the process. */
@Injectable()
export class LimitFallback {
  /** The last known number of replicas. The share of a replica is the limit divided by this number. */
  replicas = 1;
  /** The number of requests that were admitted by the share of this replica. */
  admissions = 0;

  constructor(@Optional() @Inject(MEMBERSHIP) membership?: Membership) {
    membership?.whenCounted((replicas) => (this.replicas = replicas));
  }
}
