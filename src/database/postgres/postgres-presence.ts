import type { OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import { OutageLog } from '../../common/outage-log.js';
import { withTimeout } from '../../common/timers/with-timeout.js';
import { DatabasePresence, type HeldLock, type Presence } from '../database-presence.js';
import { isLostConnection } from './lost-connection.js';
import { PresenceLock } from './presence-lock.js';
import { ProbeTimeout, ProbeConnection } from './probe-connection.js';

/** How long the connection of the probe may be silent. After this time, a second connection is opened. */
const PROBE_TIMEOUT_MS = 500;
const REDIAL_INTERVAL_MS = 250;

/**
 * Checks over a separate connection whether PostgreSQL is available. Requests cannot occupy this connection. The check runs
 * only when another query has failed or is slow.
 *
 * The database is unavailable if the separate connection is lost or silent, and a new connection is also refused, lost or
 * silent.
 * A server that answers but refuses new connections is available, for example a server that has too many connections.
 */
export class PostgresPresence extends DatabasePresence implements OnModuleInit, OnApplicationShutdown {
  private readonly log = new OutageLog(
    'The database',
    'API keys and sessions that were valid within the last 10 minutes keep working, others get 503',
  );
  private readonly presenceLock = new PresenceLock();
  private readonly onIdle: (() => void)[] = [];
  private probe: ProbeConnection | undefined;
  private checking: Promise<Presence> | undefined;
  private redialing: NodeJS.Timeout | undefined;
  private lastFailure = '';
  private isKnownUnavailable = false;
  private isClosed = false;

  constructor(private readonly url: string) {
    super();
  }

  override get isUnavailable(): boolean {
    return this.isKnownUnavailable;
  }

  override get lock(): HeldLock | undefined {
    return this.presenceLock.held;
  }

  override whenLocked(listener: () => void): void {
    this.presenceLock.onTaken.push(listener);
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

  override async check(): Promise<Presence> {
    if (this.isClosed) return 'available';
    if (this.isUnavailable) return 'unavailable';
    return (this.checking ??= this.probeServer().finally(() => (this.checking = undefined)));
  }

  /** Stops the checks in the last phase of the shutdown, because streams in flight may run until then. */
  onApplicationShutdown(): void {
    this.isClosed = true;
    clearTimeout(this.redialing);
    this.log.end();
    this.probe?.close();
  }

  private async probeServer(): Promise<Presence> {
    const old = this.probe;
    const answer = old?.ping();
    if (answer !== undefined && (await isFulfilled(withTimeout(answer, PROBE_TIMEOUT_MS, () => new ProbeTimeout()))))
      return 'available';
    const dialed = this.dial();
    // The old connection may still answer. If the old connection is lost, the new connection decides.
    const answered = answer?.then(
      () => true,
      () => dialed,
    );
    const isAvailable = await (answered === undefined ? dialed : Promise.race([answered, dialed]));
    if (!isAvailable) this.becomeUnavailable();
    return isAvailable ? 'available' : 'unavailable';
  }

  /**
   * Opens a new connection that replaces the old one.
   *
   * @returns whether the server replies.
   */
  private async dial(): Promise<boolean> {
    try {
      const probe = await ProbeConnection.dial(this.url, (lost) => {
        this.lose(lost);
      });
      this.replaceProbe(probe);
      return true;
    } catch (error) {
      this.lastFailure = error instanceof Error ? error.message : String(error);
      return !(error instanceof ProbeTimeout) && !isLostConnection(error);
    }
  }

  private replaceProbe(probe: ProbeConnection): void {
    if (this.isClosed) {
      probe.close();
      return;
    }
    const silent = this.probe;
    this.probe = probe;
    if (silent !== undefined) this.presenceLock.lose(silent);
    void this.presenceLock.take(probe);
    if (silent === undefined) return;
    silent.close();
    for (const listener of this.onIdle) listener();
  }

  private lose(lost: ProbeConnection): void {
    this.presenceLock.lose(lost);
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
    this.redialing ??= setTimeout(() => void this.redial(), REDIAL_INTERVAL_MS).unref();
  }

  private async redial(): Promise<void> {
    const isAvailable = this.isUnavailable ? await this.dial() : (await this.check()) === 'available';
    this.redialing = undefined;
    if (this.isClosed) return;
    if (!isAvailable) {
      this.redialSoon();
      return;
    }
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
