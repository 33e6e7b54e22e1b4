import { Inject, Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { ChatPlugin, PLUGIN_CONFIG, type UsageRecord, type UsageSink } from 'chat-streaming-service';
import { z } from 'zod';

const Config = z.strictObject({
  /** Where batches of records are sent by POST. Without it, records are dropped. */
  url: z.url().optional(),
  /** The most records of a batch. */
  batch: z.int().min(1).default(100),
});

const WAIT_MS = 1_000;
const MAX_WAITING = 10_000;

/** Ships the record of each stream to a queue, in batches. A batch that the queue refuses is sent again. */
@Injectable()
export class QueueSink implements UsageSink, OnApplicationShutdown {
  private readonly logger = new Logger(QueueSink.name);
  private readonly waiting: UsageRecord[] = [];
  private timer: NodeJS.Timeout | undefined;
  private sending: Promise<boolean> | undefined;

  constructor(@Inject(PLUGIN_CONFIG) private readonly config: z.infer<typeof Config>) {}

  record(record: UsageRecord): void {
    if (this.config.url === undefined) return;
    if (this.waiting.length >= MAX_WAITING) this.logger.error(`The record ${record.id} was dropped`);
    else this.waiting.push(record);
    this.timer ??= setTimeout(() => void this.send(), WAIT_MS).unref();
  }

  /** Nest calls this after the last stream, and waits. */
  async onApplicationShutdown(): Promise<void> {
    clearTimeout(this.timer);
    await this.sending;
    while (this.waiting.length > 0 && (await this.send()));
    if (this.waiting.length > 0) this.logger.error(`${this.waiting.length} records could not be sent`);
  }

  private async send(): Promise<boolean> {
    const batch = this.waiting.slice(0, this.config.batch);
    this.sending = post(this.config.url ?? '', batch);
    const isSent = await this.sending;
    this.sending = undefined;
    if (isSent) this.waiting.splice(0, batch.length);
    this.timer = this.waiting.length === 0 ? undefined : setTimeout(() => void this.send(), WAIT_MS).unref();
    return isSent;
  }
}

async function post(url: string, records: readonly UsageRecord[]): Promise<boolean> {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ records });
  const response = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(5_000) }).catch(
    () => undefined,
  );
  return response?.ok === true;
}

@ChatPlugin({ name: 'queue', compatibility: '^1', config: Config, usageSinks: [QueueSink] })
export class QueuePlugin {}
