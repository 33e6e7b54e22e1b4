import { Inject, Injectable, Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CONFIG, type Config } from '../../config/config.js';
import { engineOf, secondsNow } from '../../database/queries/statements.js';

/** The age of a heartbeat up to which its process counts as running, in seconds. Heartbeats are 10 s apart. */
const RUNNING_SECONDS = 25;
/** A process that replaces another one overlaps with it, so this many checks in a row must find several processes. */
const CHECKS = 6;

/**
 * Warns if several processes use one database without Redis: each of them counts the limits for itself, so callers get a
 * multiple of their tier.
 */
@Injectable()
export class UnsharedLimits {
  private readonly logger = new Logger('Limits');
  private checksInARow = 0;

  constructor(
    private readonly database: DataSource,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** Whether several processes count the limits separately. */
  get isWarning(): boolean {
    return this.checksInARow >= CHECKS;
  }

  /** Counts the running processes. Called at each heartbeat of this process. */
  async check(): Promise<void> {
    if (this.config.redisUrl !== undefined) return;
    const since = `${secondsNow(engineOf(this.database))} - ${RUNNING_SECONDS}`;
    const [row]: { count: string | number }[] = await this.database.query(
      `SELECT COUNT(*) AS count FROM usage_writers WHERE seen_at >= ${since}`,
    );
    const count = Number(row?.count ?? 1);
    this.checksInARow = count > 1 ? this.checksInARow + 1 : 0;
    if (this.checksInARow !== CHECKS) return;
    this.logger.warn(
      `${count} processes use this database without REDIS_URL. Each of them counts the limits of the tiers for itself.`,
    );
  }
}
