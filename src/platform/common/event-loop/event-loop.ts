import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';

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

const MEASURE_EVERY_MS = 20;

/** Watches whether the event loop is overloaded. In that case, everything in this process has to wait. */
@Injectable()
export class EventLoop implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(EventLoop.name);
  private readonly gauge = new LagGauge();
  private timer: NodeJS.Timeout | undefined;
  private firedAt = 0;

  /** Whether the event loop has been overloaded for seconds. */
  get isOverloaded(): boolean {
    return this.gauge.isHigh;
  }

  onApplicationBootstrap(): void {
    this.watch();
  }

  onApplicationShutdown(): void {
    this.unwatch();
  }

  watch(): void {
    this.firedAt = performance.now();
    this.timer = setInterval(() => {
      this.measure();
    }, MEASURE_EVERY_MS).unref();
  }

  /** From now on, nothing counts as overload. */
  unwatch(): void {
    clearInterval(this.timer);
  }

  private measure(): void {
    const now = performance.now();
    const elapsedMs = now - this.firedAt;
    this.firedAt = now;
    const wasHigh = this.gauge.isHigh;
    this.gauge.add(elapsedMs, elapsedMs - MEASURE_EVERY_MS);
    if (this.gauge.isHigh === wasHigh) return;
    if (this.gauge.isHigh) this.logger.warn('The event loop is overloaded: new streams are refused until it recovers.');
    else this.logger.log('The event loop has recovered: new streams are accepted again.');
  }
}
