/** A timer that fires later than this counts as late. */
const HIGH_LAG_MS = 200;
/** The lag must stay below this for {@link CALM_MS} before it counts as low again. */
const LOW_LAG_MS = 100;
const CALM_MS = 2_000;
/** The event loop is overloaded after this time of late timers. Time with timers that are not late is subtracted. */
const SUSTAINED_MS = 2_000;
/** The maximum time that one long pause counts, such as a garbage collection. */
const MAX_PAUSE_MS = 500;

/** Decides from the lag of a timer whether the event loop is overloaded. Short spikes do not count. */
export class LagGauge {
  isHigh = false;
  private lateMs = 0;
  private calmMs = 0;

  /**
   * Adds one measurement.
   *
   * @param elapsedMs the time since the timer fired last.
   * @param lagMs how late the timer is.
   */
  add(elapsedMs: number, lagMs: number): void {
    if (lagMs > HIGH_LAG_MS) this.lateMs = Math.min(SUSTAINED_MS, this.lateMs + Math.min(elapsedMs, MAX_PAUSE_MS));
    else this.lateMs = Math.max(0, this.lateMs - elapsedMs);
    this.calmMs = lagMs > LOW_LAG_MS ? 0 : this.calmMs + elapsedMs;
    if (this.isHigh) this.isHigh = this.calmMs < CALM_MS;
    else this.isHigh = this.lateMs >= SUSTAINED_MS;
  }
}
