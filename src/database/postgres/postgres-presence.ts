import type { OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import { OutageLog } from '../../common/outage-log.js';
import { within } from '../../common/timers/within.js';
import { DatabasePresence, type Presence } from '../database-presence.js';
import { isLostConnection } from './lost-connection.js';
import { NoAnswer, ProbeConnection } from './probe-connection.js';

/** The probe's connection may be silent for this long. Then a second one is opened. */
const SILENCE_MS = 500;
const REDIAL_EVERY_MS = 250;

/**
 * Asks PostgreSQL over a connection of its own, which no request can fill, whether it is there. The question is asked
 * only when another query has failed or is slow. The database is away when that connection is lost or silent, and a new
 * one is refused, lost or silent as well. A server that answers but lets nobody in, for example because it has too many
 * connections, is there.
 */
export class PostgresPresence extends DatabasePresence implements OnModuleInit, OnApplicationShutdown {
  private readonly log = new OutageLog(
    'The database',
    'API keys and sessions that were valid within the last 10 minutes go on, others get 503',
  );
  private readonly onSilence: (() => void)[] = [];
  private probe: ProbeConnection | undefined;
  private checking: Promise<Presence> | undefined;
  private redialing: NodeJS.Timeout | undefined;
  private lastFailure = '';
  private isKnownAway = false;
  private isClosed = false;

  constructor(private readonly url: string) {
    super();
  }

  override get isAway(): boolean {
    return this.isKnownAway;
  }

  /** Opens the connection ahead, so that it is there when the database is too busy to let a new one in. */
  onModuleInit(): void {
    void this.check();
  }

  /** Called when connections as old as the probe's have turned out to be dead, while new ones work. */
  whenSilent(listener: () => void): void {
    this.onSilence.push(listener);
  }

  override async check(): Promise<Presence> {
    if (this.isClosed) return 'there';
    if (this.isAway) return 'away';
    return (this.checking ??= this.ask().finally(() => (this.checking = undefined)));
  }

  /** The last to go, as streams in flight may still run for a while. */
  onApplicationShutdown(): void {
    this.isClosed = true;
    clearTimeout(this.redialing);
    this.log.end();
    this.probe?.close();
  }

  private async ask(): Promise<Presence> {
    const old = this.probe;
    const answer = old?.ask();
    if (answer !== undefined && (await isFulfilled(within(answer, SILENCE_MS, () => new NoAnswer())))) return 'there';
    const dialed = this.dial();
    // The old connection may still answer. When it is lost, the new one decides.
    const answered = answer?.then(
      () => true,
      () => dialed,
    );
    const isThere = await (answered === undefined ? dialed : Promise.race([answered, dialed]));
    if (!isThere) this.goAway();
    return isThere ? 'there' : 'away';
  }

  /** Opens a new connection in place of the old one. Resolves with whether the server answers. */
  private async dial(): Promise<boolean> {
    try {
      const probe = await ProbeConnection.dial(this.url, (lost) => {
        this.lose(lost);
      });
      this.replaceProbe(probe);
      return true;
    } catch (error) {
      this.lastFailure = error instanceof Error ? error.message : String(error);
      return !(error instanceof NoAnswer) && !isLostConnection(error);
    }
  }

  private replaceProbe(probe: ProbeConnection): void {
    if (this.isClosed) {
      probe.close();
      return;
    }
    const silent = this.probe;
    this.probe = probe;
    if (silent === undefined) return;
    silent.close();
    for (const listener of this.onSilence) listener();
  }

  private lose(lost: ProbeConnection): void {
    if (this.probe !== lost) return;
    this.probe = undefined;
    this.redialSoon();
  }

  private goAway(): void {
    if (this.isAway || this.isClosed) return;
    this.isKnownAway = true;
    this.log.away(this.lastFailure);
    this.redialSoon();
  }

  private redialSoon(): void {
    if (this.isClosed) return;
    this.redialing ??= setTimeout(() => void this.redial(), REDIAL_EVERY_MS).unref();
  }

  private async redial(): Promise<void> {
    const isThere = this.isAway ? await this.dial() : (await this.check()) === 'there';
    this.redialing = undefined;
    if (this.isClosed) return;
    if (!isThere) {
      this.redialSoon();
      return;
    }
    if (this.isAway) this.log.back();
    this.isKnownAway = false;
  }
}

async function isFulfilled(promise: Promise<unknown>): Promise<boolean> {
  return promise.then(
    () => true,
    () => false,
  );
}
