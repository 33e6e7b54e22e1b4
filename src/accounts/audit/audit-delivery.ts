import { randomUUID } from 'node:crypto';
import {
  Inject,
  Injectable,
  Logger,
  Optional,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
  type OnModuleInit,
} from '@nestjs/common';
import { AtomicStatements } from '../../platform/database/queries/atomic-statements.js';
import { ExtensionPoint, Extensions } from '../../platform/common/extensions/extensions.js';
import { AuditLog, type AuditEntry } from './audit-log.js';
import { CLOCK, type Clock } from '../../platform/common/clock.js';
import { PeriodicTask } from '../../platform/common/timers/periodic-task.js';
import { ConfigError } from '../../platform/config/config-error.js';
import { LateRows } from '../../platform/database/queries/late-rows.js';

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

/**
 * Receives every entry of the audit log at least once, also after a restart: for a SIEM or an archive, for example.
 *
 * Of all replicas, one delivers. A new sink gets the whole log, oldest entries first. An entry can come again, for example after a
 * restart, so a receiver recognizes entries by their `id`. Entries that AUDIT_RETENTION_DAYS has deleted are lost for a sink that
 * fails for so long.
 *
 * @since 1.0
 *
 * @example
 * ```ts
 * export class SiemSink implements AuditSink {
 *   readonly name = 'siem';
 *   async deliver(entries: readonly AuditEntry[]): Promise<void> {
 *     await siem.send(entries);
 *   }
 * }
 * ```
 */
export interface AuditSink {
  /** The name under which the database keeps the position of the sink. Unique, and the same after each start. */
  readonly name: string;
  /**
   * Receives at most 200 entries, oldest first. They count as delivered when the promise resolves. When it rejects, they are
   * delivered again later.
   */
  deliver(entries: readonly AuditEntry[]): Promise<void>;
}

/** The sinks of plugins. */
export const AUDIT_SINKS = new ExtensionPoint<AuditSink>('auditSinks');

const NAME = /^[\w.-]{1,100}$/;
const ENTRIES_AT_ONCE = 200;
const ROUND_EVERY_MS = 2_000;
const MAX_WAIT_MS = 60_000;

/** What this process knows of a sink. */
interface Delivery {
  readonly sink: AuditSink;
  /** Knows the entries that were delivered. */
  readonly lateEntries: LateRows;
  readonly task: PeriodicTask;
  failures: number;
}

/** Delivers the entries of the audit log to the sinks of plugins. Without a sink, it does nothing. */
@Injectable()
export class AuditDelivery implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('AuditSink');
  private deliveries: readonly Delivery[] = [];
  private isStopped = false;

  constructor(
    private readonly log: AuditLog,
    private readonly positions: SinkPositions,
    @Inject(CLOCK) private readonly now: Clock,
    /** The commands of operators have no extensions. */
    @Optional() private readonly extensions?: Extensions,
  ) {}

  /** @throws {ConfigError} when a name is invalid, or is the name of two sinks. */
  onModuleInit(): void {
    const sinks = this.extensions?.of(AUDIT_SINKS) ?? [];
    checkNames(sinks.map(({ name }) => name));
    this.deliveries = sinks.map((sink) => {
      const task = new PeriodicTask(() => this.run(delivery));
      const delivery: Delivery = { sink, lateEntries: new LateRows(), task, failures: 0 };
      return delivery;
    });
  }

  onApplicationBootstrap(): void {
    for (const { task } of this.deliveries) task.start(0);
  }

  /** Waits for the running deliveries. What is not delivered yet is delivered after the next start, or by another replica. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isStopped = true;
    await Promise.all(this.deliveries.map(({ task }) => task.stop()));
    await Promise.all(this.deliveries.map(({ sink }) => this.positions.release(sink.name).catch(() => undefined)));
  }

  private async run(delivery: Delivery): Promise<number> {
    try {
      await this.round(delivery);
      delivery.failures = 0;
    } catch (error) {
      delivery.failures++;
      const msg = `Audit entries cannot be delivered to the sink ${delivery.sink.name}. The service tries again`;
      this.logger.warn({ msg, reason: String(error) });
    }
    return Math.min(ROUND_EVERY_MS * 2 ** delivery.failures, MAX_WAIT_MS);
  }

  /** Delivers all entries that have no delivery yet, if this replica has the lease. */
  private async round({ sink, lateEntries }: Delivery): Promise<void> {
    const until = await this.positions.lease(sink.name, this.now());
    if (until === undefined) return;
    let position = { time: LateRows.readAgainFrom(until), id: '' };
    let latest = until;
    let isLast = false;
    while (!isLast && !this.isStopped) {
      const entries = await this.log.following(position, ENTRIES_AT_ONCE);
      isLast = entries.length < ENTRIES_AT_ONCE;
      const end = entries.at(-1);
      if (end === undefined) return;
      position = { time: end.at, id: end.id };
      const fresh = lateEntries.newAmong(entries);
      if (fresh.length === 0) continue;
      await sink.deliver(fresh);
      lateEntries.add(fresh);
      if (end.at > latest) latest = end.at;
      if (!(await this.positions.advance(sink.name, latest, this.now()))) return;
      lateEntries.removeBefore(latest);
    }
  }
}

function checkNames(names: readonly string[]): void {
  const problems = names.flatMap((name, index) => {
    if (!NAME.test(name))
      return `The name "${name}" of an audit sink must be 1 to 100 letters, digits, "_", "." or "-".`;
    return names.indexOf(name) === index
      ? []
      : `Two audit sinks have the name "${name}". Each needs a name of its own.`;
  });
  if (problems.length > 0) throw new ConfigError(problems);
}
