import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

const PING_TIMEOUT_MS = 1000;

/** Tells readiness probes whether the database answers. */
@Injectable()
export class DatabaseHealth {
  private pending: Promise<boolean> | undefined;

  constructor(private readonly dataSource: DataSource) {}

  /** Whether the database answered within a second. Never throws. */
  async ping(): Promise<boolean> {
    // Probes of a database that hangs share one connection, instead of taking one each until the pool is empty.
    this.pending ??= this.query().finally(() => (this.pending = undefined));
    return Promise.race([this.pending, falseAfter(PING_TIMEOUT_MS)]);
  }

  private async query(): Promise<boolean> {
    try {
      await this.dataSource.query('SELECT 1');
      return true;
    } catch {
      return false;
    }
  }
}

async function falseAfter(timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => setTimeout(resolve, timeoutMs, false).unref());
}
