import { randomInt } from 'node:crypto';
import { DatabaseAvailability, type HeldLock, type Availability } from '../database-availability.js';
import { ProbeConnection, ProbeTimeout } from './probe-connection.js';
import type { OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import { OutageLog } from '../../common/outage-log.js';
import { elapsedMs, startTimer } from '../../common/timers/pace.js';
import { withTimeout } from '../../common/timers/timeouts.js';
import { isLostConnection } from '../database-error.js';

/** The first part of the keys of these locks. Any number works if no other program uses the same number in this database. */
const LOCKS_OF_PROCESSES = 2_094_771_464;
const HIGHEST_KEY = 2 ** 31 - 1;

/** An SQL query for the keys of all processes that are connected. */
export const LOCKED_BY_PROCESSES = `SELECT objid::bigint FROM pg_locks WHERE locktype = 'advisory' AND granted
  AND classid = ${LOCKS_OF_PROCESSES} AND objsubid = 2
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

/**
 * An advisory lock that belongs to the connection of the probe. When a process is killed, its operating system closes the
 * connection, and the server releases the lock within milliseconds. So other hosts can tell a killed process from a slow one.
 */
export class ProcessLock {
  readonly onTaken: (() => void)[] = [];
  private readonly key = randomInt(1, HIGHEST_KEY);
  private holder: ProbeConnection | undefined;
  private heldSince = 0;

  get held(): HeldLock | undefined {
    return this.holder === undefined ? undefined : { key: this.key, heldSince: this.heldSince };
  }

  /** Takes the lock on a new connection, where possible. Never rejects. */
  async take(connection: ProbeConnection): Promise<void> {
    const isTaken = await connection.lock(LOCKS_OF_PROCESSES, this.key).catch(() => false);
    if (!isTaken || connection.isLost) return;
    this.holder = connection;
    this.heldSince = elapsedMs();
    for (const listener of this.onTaken) listener();
  }

  /** Call this when a connection has ended. */
  lose(connection: ProbeConnection): void {
    if (this.holder === connection) this.holder = undefined;
  }
}

/** How long the connection of the probe may be silent. After this time, a second connection is opened. */
const PROBE_TIMEOUT_MS = 500;
const REDIAL_INTERVAL_MS = 250;
/** A server that has answered late twice in this time counts as slow, for this long. One late answer can be the end of an outage. */
const SLOW_FOR_MS = 30_000;
/** How long a slow server may be silent. */
const SLOW_SILENCE_MS = 10_000;

/**
 * Checks over a separate connection whether PostgreSQL is available. Requests cannot occupy this connection. The check runs
 * only when another query has failed or is slow.
 *
 * The database is unavailable if the separate connection is lost or silent, and a new connection is also refused, lost or
 * silent.
 * A server that answers but refuses new connections is available, for example a server that has too many connections. A server whose
 * answers come after all is slow, so that it may be silent for longer.
 */
export class PostgresAvailability extends DatabaseAvailability implements OnModuleInit, OnApplicationShutdown {
  private readonly log = new OutageLog(
    'The database',
    'API keys and sessions that were valid within the last 10 minutes keep working, others get 503',
  );
  private readonly processLock = new ProcessLock();
  private readonly onIdle: (() => void)[] = [];
  private probe: ProbeConnection | undefined;
  private checking: Promise<Availability> | undefined;
  private redialing: NodeJS.Timeout | undefined;
  private lastFailure = '';
  private isKnownUnavailable = false;
  /** When the first question was asked that has no answer yet. */
  private silentSince: number | undefined;
  /** When an answer has shown that the server was not unavailable, but slow. */
  private lateAt = -Infinity;
  private slowUntil = -Infinity;
  private isClosed = false;

  constructor(private readonly url: string) {
    super();
  }

  override get isUnavailable(): boolean {
    return this.isKnownUnavailable;
  }

  override get lock(): HeldLock | undefined {
    return this.processLock.held;
  }

  override whenLocked(listener: () => void): void {
    this.processLock.onTaken.push(listener);
  }

  /** Opens the connection in advance, because a busy database may not accept a new connection later. */
  onModuleInit(): void {
    void this.check();
  }

  /**
   * Adds a listener that is called when the old connection of the probe is dead, but a new connection works. Other
   * connections of the same age are then probably dead, too.
   */
  whenSilent(listener: () => void): void {
    this.onIdle.push(listener);
  }

  override async check(): Promise<Availability> {
    if (this.isClosed) return 'available';
    if (this.isUnavailable) return 'unavailable';
    return (this.checking ??= this.probeServer().finally(() => (this.checking = undefined)));
  }

  /** Stops the checks in the last phase of the shutdown, because streams in flight may run until then. */
  onApplicationShutdown(): void {
    this.isClosed = true;
    clearTimeout(this.redialing);
    this.probe?.close();
  }

  private async probeServer(): Promise<Availability> {
    const old = this.probe;
    this.silentSince ??= elapsedMs();
    let isDecided = false;
    const answer = old?.ping();
    answer?.then(
      () => {
        this.answered(isDecided);
      },
      () => undefined,
    );
    if (answer !== undefined && (await isFulfilled(withTimeout(answer, PROBE_TIMEOUT_MS, () => new ProbeTimeout()))))
      return 'available';
    const dialed = this.dial();
    // The old connection may still answer. If the old connection is lost, the new connection decides.
    const answered = answer?.then(
      () => 'available' as const,
      () => dialed,
    );
    const outcome = await (answered === undefined ? dialed : Promise.race([answered, dialed]));
    isDecided = true;
    if (outcome === 'available' || (outcome === 'silent' && this.mayBeSilent)) return 'available';
    this.becomeUnavailable();
    return 'unavailable';
  }

  /** Opens a new connection that replaces the old one. */
  private async dial(): Promise<Availability | 'silent'> {
    const onLost = (lost: ProbeConnection): void => {
      this.lose(lost);
    };
    const onLate = (): void => {
      this.answered(true);
    };
    try {
      this.replaceProbe(await ProbeConnection.dial(this.url, onLost, onLate));
      this.answered(false);
      return 'available';
    } catch (error) {
      this.lastFailure = error instanceof Error ? error.message : String(error);
      if (error instanceof ProbeTimeout) return 'silent';
      if (isLostConnection(error)) return 'unavailable';
      this.answered(false);
      return 'available';
    }
  }

  /** Whether the server is slow, and has not been silent for long. */
  private get mayBeSilent(): boolean {
    const now = elapsedMs();
    return now < this.slowUntil && now - (this.silentSince ?? now) < SLOW_SILENCE_MS;
  }

  /** @param isLate whether nobody waits for the answer any longer. */
  private answered(isLate: boolean): void {
    const now = elapsedMs();
    this.silentSince = undefined;
    if (!isLate || this.isClosed) return;
    // All answers that come at the end of an outage count once.
    if (now < (this.isUnavailable ? this.lateAt + SLOW_FOR_MS : this.slowUntil)) this.slowUntil = now + SLOW_FOR_MS;
    if (this.isUnavailable) this.lateAt = now;
    this.becomeAvailable();
  }

  private replaceProbe(probe: ProbeConnection): void {
    if (this.isClosed) {
      probe.close();
      return;
    }
    const silent = this.probe;
    this.probe = probe;
    if (silent !== undefined) this.processLock.lose(silent);
    void this.processLock.take(probe);
    if (silent === undefined) return;
    silent.close();
    for (const listener of this.onIdle) listener();
  }

  private lose(lost: ProbeConnection): void {
    this.processLock.lose(lost);
    if (this.probe !== lost) return;
    this.probe = undefined;
    this.redialSoon();
  }

  private becomeUnavailable(): void {
    if (this.isUnavailable || this.isClosed) return;
    this.isKnownUnavailable = true;
    this.log.unavailable(this.lastFailure);
    this.redialSoon();
  }

  private redialSoon(): void {
    if (this.isClosed) return;
    this.redialing ??= startTimer(() => void this.redial(), REDIAL_INTERVAL_MS).unref();
  }

  private async redial(): Promise<void> {
    const outcome = this.isUnavailable ? await this.dial() : await this.check();
    this.redialing = undefined;
    if (this.isClosed) return;
    if (outcome === 'available') this.becomeAvailable();
    else {
      if (this.isUnavailable) this.log.unavailable(this.lastFailure);
      this.redialSoon();
    }
  }

  private becomeAvailable(): void {
    if (this.isUnavailable) this.log.back();
    this.isKnownUnavailable = false;
  }
}

async function isFulfilled(promise: Promise<unknown>): Promise<boolean> {
  return promise.then(
    () => true,
    () => false,
  );
}
