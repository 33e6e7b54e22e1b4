import { Inject, Injectable, Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { engineOf, secondsNow } from '../../platform/database/queries/statements.js';
import type { Membership } from '../../platform/redis/membership.js';
import { MEMBERSHIP } from '../../platform/redis/redis-connection.js';

/** The age of a heartbeat up to which its process counts as running, in seconds. Heartbeats are 10 s apart. */
const RUNNING_SECONDS = 25;
/** A process that replaces another one overlaps with it, so this many checks in a row must find several processes. */
const CHECKS = 6;

/**
 * Counts the processes that use one database but do not share their limits in Redis. Without REDIS_URL, each of them counts for itself, and
 * callers get a multiple of their tier: a warning. A replica that has started while Redis was unavailable takes its share of the limits.
 */
@Injectable()
export class UnsharedLimits {
  private readonly logger = new Logger('Limits');
  private checksInARow = 0;

  constructor(
    private readonly database: DataSource,
    @Inject(MEMBERSHIP) private readonly membership: Membership | undefined,
  ) {}

  /** Whether several processes count the limits separately. */
  get isWarning(): boolean {
    return this.checksInARow >= CHECKS;
  }

  /** Counts the running processes. Called at each heartbeat of this process. */
  async check(): Promise<void> {
    const { membership } = this;
    if (membership?.hasBeaten === true) return;
    const since = `${secondsNow(engineOf(this.database))} - ${RUNNING_SECONDS}`;
    const [row]: { count: string | number }[] = await this.database.query(
      `SELECT COUNT(*) AS count FROM usage_writers WHERE seen_at >= ${since}`,
    );
    const count = Number(row?.count ?? 1);
    if (membership !== undefined) {
      membership.assume(Math.max(1, count));
      return;
    }
    this.checksInARow = count > 1 ? this.checksInARow + 1 : 0;
    if (this.checksInARow !== CHECKS) return;
    this.logger.warn(
      `${count} processes use this database without REDIS_URL. Each of them counts the limits of the tiers for itself.`,
    );
  }
}
