import {
  Inject,
  Injectable,
  Logger,
  Optional,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
  type OnModuleInit,
} from '@nestjs/common';
import { CLOCK, type Clock } from '../../common/clock.js';
import { Extensions } from '../../common/extensions/extensions.js';
import { Rounds } from '../../common/timers/rounds.js';
import { ConfigError } from '../../config/config-error.js';
import { LateRows } from '../../database/queries/late-rows.js';
import { AuditLog } from './audit-log.js';
import { AUDIT_SINKS, type AuditSink } from './audit-sink.js';
import { SinkPositions } from './sink-positions.js';

const NAME = /^[\w.-]{1,100}$/;
const ENTRIES_AT_ONCE = 200;
const ROUND_EVERY_MS = 2_000;
const MAX_WAIT_MS = 60_000;

/** What this process knows of a sink. */
interface Delivery {
  readonly sink: AuditSink;
  /** Knows the entries that were delivered. */
  readonly lateEntries: LateRows;
  readonly rounds: Rounds;
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
      const rounds = new Rounds(() => this.run(delivery));
      const delivery: Delivery = { sink, lateEntries: new LateRows(), rounds, failures: 0 };
      return delivery;
    });
  }

  onApplicationBootstrap(): void {
    for (const { rounds } of this.deliveries) rounds.start(0);
  }

  /** Waits for the running deliveries. What is not delivered yet is delivered after the next start, or by another replica. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isStopped = true;
    await Promise.all(this.deliveries.map(({ rounds }) => rounds.stop()));
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
