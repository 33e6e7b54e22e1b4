import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { LagGauge } from './lag-gauge.js';

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
