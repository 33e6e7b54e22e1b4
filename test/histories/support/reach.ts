import type { Credential } from './credentials.js';
import type { LinkState } from './link.js';
import type { VirtualTime } from './virtual-time.js';

/**
 * A database that refuses connections is unavailable at once, and one that is silent on a new connection for a second. What was on its
 * way when the silence began counts to this second.
 */
const SILENT_MS = 700;
/** The probe tries four times a second to reach the database again. */
const KNOWS_AGAIN_MS = 1_000;
/** A replica reads the changes every half second, so after this time it has read a change, also in several pages. */
const NOTICED_WITHIN_MS = 2_000;

/** When a replica can reach its database, and what it must know of the credentials that have ended. */
export class Reach {
  /** Since when nothing has disturbed the replica. `Infinity`: something disturbs it. */
  calmSince: number;
  /** The credentials that this process must not accept, also when the database becomes unavailable. */
  readonly known = new Set<Credential>();
  private link: LinkState = 'up';
  private slowMs = 0;
  private isFailing = false;
  private slowUntil = -Infinity;
  private stoppedUntil = -Infinity;
  private unavailableFrom = Infinity;
  private unavailableUntil = -Infinity;

  constructor(private readonly time: VirtualTime) {
    this.calmSince = time.nowMs;
  }

  /** Whether the replica may trust what it has read before. */
  get mayTrust(): boolean {
    const { nowMs } = this.time;
    return nowMs >= this.unavailableFrom || nowMs <= this.unavailableUntil;
  }

  /** Whether a replica that was calm since a time must have noticed what happened then. */
  hasNoticed(atMs: number): boolean {
    return this.time.nowMs - Math.max(atMs, this.calmSince) > NOTICED_WITHIN_MS;
  }

  linked(state: LinkState): void {
    const { nowMs } = this.time;
    if (nowMs >= this.unavailableFrom) this.unavailableUntil = Math.max(nowMs, this.stoppedUntil) + KNOWS_AGAIN_MS;
    if (state === 'up') this.unavailableFrom = Infinity;
    else this.unavailableFrom = Math.min(this.unavailableFrom, state === 'cut' ? nowMs : nowMs + SILENT_MS);
    this.link = state;
    this.disturbed();
  }

  slowed(ms: number): void {
    // The replies that are on their way stay slow.
    this.slowUntil = Math.max(this.slowUntil, this.time.nowMs + this.slowMs);
    this.slowMs = ms;
    this.disturbed();
  }

  failed(isFailing: boolean): void {
    this.isFailing = isFailing;
    this.disturbed();
  }

  stopped(until: number): void {
    this.stoppedUntil = Math.max(this.stoppedUntil, until);
    // A process that is stopped does not notice that its database is back.
    if (this.time.nowMs <= this.unavailableUntil) this.unavailableUntil = this.stoppedUntil + KNOWS_AGAIN_MS;
    this.disturbed();
  }

  private disturbed(): void {
    const isCalm = this.link === 'up' && this.slowMs === 0 && !this.isFailing;
    this.calmSince = isCalm ? Math.max(this.time.nowMs, this.stoppedUntil, this.slowUntil) : Infinity;
  }
}
