import { Injectable } from '@nestjs/common';
import { Tally } from './counts/tally.js';

/** Why the process turned something away, or cut it off, to protect its other callers. */
export const SHED_REASONS = [
  /** The bodies in flight of one account, or of one network without an account. */
  'account_bodies',
  /** The bodies in flight of all callers together. */
  'all_bodies',
  /** A body that did not arrive in time. */
  'slow_body',
  /** Streams open at once in this process. */
  'streams',
  /** The event loop lags. */
  'event_loop',
  /** Connections of clients. */
  'connections',
  /** Connections to upstreams. */
  'upstream_connections',
  /** An answer, other than a stream, that its client does not read. */
  'unread_answer',
  /** Lookups of credentials in the database. */
  'credential_lookups',
  /** Unknown credentials from one network. */
  'unknown_credentials',
  /** Passwords waiting to be hashed. */
  'password_hashing',
  /** Usage reports, and lists of an account's keys. */
  'usage_reports',
] as const;

export type ShedReason = (typeof SHED_REASONS)[number];

/** Counts what was shed, for metrics. Every kind of shedding has one reason here. */
@Injectable()
export class ShedLoad {
  readonly counts = new Tally<ShedReason>(SHED_REASONS);

  note(reason: ShedReason): void {
    this.counts.add(reason);
  }
}
