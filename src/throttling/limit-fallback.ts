import { Injectable } from '@nestjs/common';

/** The fallback while Redis is unavailable: each replica admits its share of the limits, and counts in the process. */
@Injectable()
export class LimitFallback {
  /** The last known number of replicas. The share of a replica is the limit divided by this number. */
  replicas = 1;
  /** The number of requests that were admitted by the share of this replica. */
  admissions = 0;
}
