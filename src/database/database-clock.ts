import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';

const MEASURE_EVERY_MS = 60_000;
/** An answer that took longer says too little about when it was true. */
const LONGEST_ROUND_TRIP_MS = 1000;

/**
 * The time of the database. Clocks of replicas may differ by hours, and what one writes down others judge: sessions, expiry,
 * the day of a stream. An embedded database has the clock of its machine.
 */
@Injectable()
export class DatabaseClock implements OnModuleInit, OnModuleDestroy {
  /** The database's time at the origin of `performance.now()`, which nobody sets; `undefined` while not measured. */
  private origin: number | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly dataSource: DataSource) {}

  /** Milliseconds since 1970. */
  now(): number {
    return this.origin === undefined ? Date.now() : Math.round(this.origin + performance.now());
  }

  async onModuleInit(): Promise<void> {
    if (this.dataSource.options.type !== 'postgres') return;
    await this.measure();
    this.timer = setInterval(() => void this.measure(), MEASURE_EVERY_MS).unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  private async measure(): Promise<void> {
    const askedAt = performance.now();
    try {
      const [row] = await this.dataSource.query<{ now: string }[]>(
        'SELECT EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS now',
      );
      const answeredAt = performance.now();
      if (row === undefined || answeredAt - askedAt > LONGEST_ROUND_TRIP_MS) return;
      this.origin = Number(row.now) - (askedAt + answeredAt) / 2;
    } catch {
      // What was measured last stands.
    }
  }
}
