/** A timer that is later than this is late. */
const HIGH_LAG_MS = 200;
/** The lag must stay below this for {@link CALM_MS} before it counts as low again. */
const LOW_LAG_MS = 100;
const CALM_MS = 2_000;
/** How long timers must have been late, less the time in which they were not. */
const SUSTAINED_MS = 2_000;
/** One long pause, such as a garbage collection, counts no longer than this. */
const MAX_PAUSE_MS = 500;

/** Decides from the lag of a timer whether the event loop has too much to do. Short spikes do not count. */
export class LagGauge {
  isHigh = false;
  private lateMs = 0;
  private calmMs = 0;

  /** @param elapsedMs time since the timer fired before, @param lagMs how late it is. */
  add(elapsedMs: number, lagMs: number): void {
    if (lagMs > HIGH_LAG_MS) this.lateMs = Math.min(SUSTAINED_MS, this.lateMs + Math.min(elapsedMs, MAX_PAUSE_MS));
    else this.lateMs = Math.max(0, this.lateMs - elapsedMs);
    this.calmMs = lagMs > LOW_LAG_MS ? 0 : this.calmMs + elapsedMs;
    if (this.isHigh) this.isHigh = this.calmMs < CALM_MS;
    else this.isHigh = this.lateMs >= SUSTAINED_MS;
  }
}
