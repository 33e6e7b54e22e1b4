import { Injectable } from '@nestjs/common';
import { LabeledCounter } from './counts/counters.js';

/** The reasons why the process refuses a request, or cuts a connection, to protect its other callers. */
export const SHED_REASONS = [
  /** Too many bodies in flight for one account, or for one network without an account. */
  'account_bodies',
  /** Too many bodies in flight for all callers together. */
  'all_bodies',
  /** A body did not arrive in time. */
  'slow_body',
  /** Too many open streams in this process. */
  'streams',
  /** The event loop is overloaded. */
  'event_loop',
  /** Too many connections of clients, or too many waiting requests on one connection. */
  'connections',
  /** Too many connections to upstreams. */
  'upstream_connections',
  /** A client does not read its response. Streams are not counted here. */
  'unread_answer',
  /** Too much text of durable streams in memory. */
  'stream_memory',
  /** Too many lookups of credentials in the database. */
  'credential_lookups',
  /** Too many unknown credentials from one network. */
  'unknown_credentials',
  /** Too many passwords wait to be hashed. */
  'password_hashing',
  /** Too many sign-ins wait for the issuer. */
  'single_sign_on',
  /** Too many usage reports, or lists of an account's keys. */
  'usage_reports',
] as const;

export type ShedReason = (typeof SHED_REASONS)[number];

/** Counts refused requests and cut connections by reason, for metrics. Every kind of load shedding has one reason here. */
@Injectable()
export class ShedLoad {
  readonly counts = new LabeledCounter<ShedReason>(SHED_REASONS);

  count(reason: ShedReason): void {
    this.counts.add(reason);
  }
}
