import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AtomicStatements } from '../../database/queries/atomic-statements.js';

/** A replica that has failed loses its lease after this time. */
const LEASE_MS = 30_000;

/** The positions of the sinks in the database. At most one replica has the lease of a sink, and delivers to it. */
@Injectable()
export class SinkPositions {
  private readonly replica = randomUUID();

  constructor(private readonly database: AtomicStatements) {}

  /**
   * Takes or extends the lease of a sink.
   *
   * @returns the time until which entries were delivered, as ISO 8601; an empty text for a new sink. `undefined`: another replica has
   * the lease.
   */
  async lease(name: string, now: number): Promise<string | undefined> {
    const [, [row] = []] = await this.database.run({ table: 'audit_sinks', id: name }, [
      {
        sql: `INSERT INTO audit_sinks (id, delivered_until, leased_by, leased_until) VALUES (:name, '', '', '')
          ON CONFLICT (id) DO NOTHING RETURNING id`,
        parameters: { name },
      },
      {
        sql: `UPDATE audit_sinks SET leased_by = :replica, leased_until = :until
          WHERE id = :name AND (leased_by = :replica OR leased_until < :now) RETURNING delivered_until`,
        parameters: { name, replica: this.replica, ...times(now) },
      },
    ]);
    return row === undefined ? undefined : String(row['delivered_until']);
  }

  /** Writes that all entries until `time` were delivered. Returns false when another replica has the lease meanwhile. */
  async advance(name: string, time: string, now: number): Promise<boolean> {
    const { until } = times(now);
    const [changed] = await this.database.run({ table: 'audit_sinks', id: name }, [
      {
        sql: `UPDATE audit_sinks SET delivered_until = :time, leased_until = :until
          WHERE id = :name AND leased_by = :replica RETURNING id`,
        parameters: { name, time, until, replica: this.replica },
      },
    ]);
    return changed?.length === 1;
  }

  /** Gives the lease back, so that another replica can deliver at once. */
  async release(name: string): Promise<void> {
    await this.database.run({ table: 'audit_sinks', id: name }, [
      {
        sql: "UPDATE audit_sinks SET leased_by = '', leased_until = '' WHERE id = :name AND leased_by = :replica RETURNING id",
        parameters: { name, replica: this.replica },
      },
    ]);
  }
}

function times(now: number): { readonly now: string; readonly until: string } {
  return { now: new Date(now).toISOString(), until: new Date(now + LEASE_MS).toISOString() };
}
