import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { startInterval } from '../common/timers/pace.js';

const MEASURE_EVERY_MS = 60_000;
/** A slower answer is ignored, because its time is too inaccurate. */
const MAX_ROUND_TRIP_MS = 1000;

/**
 * Provides the time of the database. The clocks of replicas may differ by hours, and one replica reads the times that
 * another replica has written: of sessions, of expiry dates, and of the day of a stream. An embedded database uses the
 * clock of its machine.
 */
@Injectable()
export class DatabaseClock implements OnModuleInit, OnModuleDestroy {
  /**
   * The database's time at the origin of `performance.now()`, which clock changes do not affect. `undefined` until the
   * first measurement.
   */
  private origin: number | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly dataSource: DataSource) {}

  /** Returns the time in milliseconds since 1970. Before the first measurement, this is the time of the machine. */
  now(): number {
    return this.origin === undefined ? Date.now() : Math.round(this.origin + performance.now());
  }

  async onModuleInit(): Promise<void> {
    if (this.dataSource.options.type !== 'postgres') return;
    await this.measure();
    this.timer = startInterval(() => void this.measure(), MEASURE_EVERY_MS);
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  private async measure(): Promise<void> {
    const queriedAt = performance.now();
    try {
      const [row] = await this.dataSource.query<{ now: string }[]>(
        'SELECT EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS now',
      );
      const answeredAt = performance.now();
      if (row === undefined || answeredAt - queriedAt > MAX_ROUND_TRIP_MS) return;
      this.origin = Number(row.now) - (queriedAt + answeredAt) / 2;
    } catch {
      // The last measurement stays valid.
    }
  }
}
