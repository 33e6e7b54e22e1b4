import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisClient } from '../../../../redis/redis-client.js';
import type { RedisConnection } from '../../../../redis/redis-connection.js';
import { inboxKey } from './stream-keys.js';

/** Below the time after which the client closes a connection without traffic. */
const BLOCK_MS = 5_000;
const MESSAGES_PER_READ = 64;
const RETRY_AFTER_MS = 250;
const INBOX_LENGTH = 1_000;
const INBOX_MS = 60_000;
const CANCEL = 'c';
const FIRST = '0-0';

type Reply = [key: string, entries: [id: string, fields: string[]][]][] | null;

/** Carries the requests to cancel a stream to the replica that generates the stream. */
export class Cancellations {
  private client: RedisClient | undefined;
  private isReading = false;
  private isClosed = false;
  private lastId = FIRST;

  /** @param onCancel called with the key of the text of a stream that another replica wants to stop. */
  constructor(
    private readonly redis: RedisConnection,
    private readonly replica: string,
    private readonly onCancel: (textKey: string) => void,
  ) {}

  /** Begins to read the requests to this replica, on a connection of its own, because the command blocks it. */
  start(): void {
    if (this.isReading || this.isClosed) return;
    this.isReading = true;
    void this.readAll();
  }

  /** Asks the replica that generates a stream to stop. */
  async send(replica: string, textKey: string): Promise<void> {
    const inbox = inboxKey(replica);
    const TRIM = { strategy: 'MAXLEN', strategyModifier: '~', threshold: INBOX_LENGTH } as const;
    await this.redis.run(inbox, (client) =>
      Promise.all([client.xAdd(inbox, '*', { [CANCEL]: textKey }, { TRIM }), client.pExpire(inbox, INBOX_MS)]),
    );
  }

  close(): void {
    this.isClosed = true;
    this.disconnect();
  }

  private async readAll(): Promise<void> {
    const key = inboxKey(this.replica);
    const limits = ['COUNT', String(MESSAGES_PER_READ), 'BLOCK', String(BLOCK_MS)];
    while (this.isOpen()) {
      try {
        this.client ??= await this.redis.openAnother({ key });
        if (!this.isOpen()) break;
        const command = ['XREAD', ...limits, 'STREAMS', key, this.lastId];
        this.take(await this.client.sendCommand<Reply>(command));
      } catch {
        // The other connection to Redis reports outages. In a cluster, another server may have the key by now.
        this.disconnect();
        if (this.isOpen()) await sleep(RETRY_AFTER_MS, undefined, { ref: false });
      }
    }
    this.disconnect();
  }

  private take(reply: Reply): void {
    for (const [id, fields] of reply?.[0]?.[1] ?? []) {
      this.lastId = id;
      if (fields[0] === CANCEL) this.onCancel(String(fields[1]));
    }
  }

  private isOpen(): boolean {
    return !this.isClosed;
  }

  private disconnect(): void {
    if (this.client?.isOpen === true) this.client.destroy();
    this.client = undefined;
  }
}
