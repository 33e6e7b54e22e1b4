import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { withTimeout } from '../common/timers/with-timeout.js';
import { DatabasePresence } from './database-presence.js';

const PING_TIMEOUT_MS = 1000;

/** Reports to readiness probes whether the database replies. */
@Injectable()
export class DatabaseHealth {
  private pending: Promise<boolean> | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly presence: DatabasePresence,
  ) {}

  /** Whether the database answers within a second. Never throws. */
  async ping(): Promise<boolean> {
    // While the database does not answer, all probes share one query. Otherwise each probe would occupy a connection of the
    // pool.
    this.pending ??= this.probe().finally(() => (this.pending = undefined));
    return withTimeout(this.pending, PING_TIMEOUT_MS, () => new Error('no reply')).catch(() => false);
  }

  /**
   * Checks whether the database answers. For PostgreSQL, it uses the connection of the probe: a full pool must not make the
   * replica unready.
   */
  private async probe(): Promise<boolean> {
    if (this.dataSource.options.type === 'postgres') return (await this.presence.check()) === 'available';
    try {
      await this.dataSource.query('SELECT 1');
      return true;
    } catch {
      return false;
    }
  }
}
