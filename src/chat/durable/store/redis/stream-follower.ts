import { RESP_TYPES } from '@redis/client';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisClient, RedisConnection } from '../../../../redis/redis-connection.js';
import type { EntryFields } from './stream-entry.js';
import { inboxKey } from './stream-keys.js';

/** Below the time after which the client closes a connection without traffic. */
const BLOCK_MS = 5_000;
const ENTRIES_PER_READ = 64;
const RETRY_AFTER_MS = 250;
const INBOX_LENGTH = 1_000;
const INBOX_MS = 60_000;
const WAKE_UP = 'w';
const CANCEL = 'c';
const FIRST = '0-0';
/** The client returns bytes instead of texts. */
const BYTES = { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } };

type Listener = (fields: EntryFields) => void;

interface Followed {
  readonly listener: Listener;
  lastId: string;
}

type Reply = [key: Buffer, entries: [id: Buffer, fields: Buffer[]][]][] | null;

/** Reads all streams that this process follows, and the messages to this process, with one blocking command. */
export class StreamFollower {
  private readonly followed = new Map<string, Followed>();
  private readonly inbox: { readonly key: string; lastId: string };
  private client: RedisClient | undefined;
  private isClosed = false;

  /** @param onCancel called with the key of the text of a stream that another replica wants to stop. */
  constructor(
    private readonly redis: RedisConnection,
    replica: string,
    private readonly onCancel: (textKey: string) => void,
  ) {
    this.inbox = { key: inboxKey(replica), lastId: FIRST };
  }

  /** Begins to read messages. */
  start(): void {
    if (this.client !== undefined || this.isClosed) return;
    const client = this.redis.client.duplicate();
    this.client = client;
    // The loop reports no failure: the other connection to Redis does.
    client.on('error', () => undefined);
    void this.run(client);
  }

  /**
   * Reads a stream from its beginning.
   *
   * @returns a function that ends this.
   */
  follow(textKey: string, listener: Listener): () => void {
    this.start();
    const entry: Followed = { listener, lastId: FIRST };
    this.followed.set(textKey, entry);
    this.send(this.inbox.key, WAKE_UP, '').catch(() => undefined);
    return () => {
      if (this.followed.get(textKey) === entry) this.followed.delete(textKey);
    };
  }

  /** Asks the replica that generates a stream to stop. */
  cancel(replica: string, textKey: string): Promise<void> {
    return this.send(inboxKey(replica), CANCEL, textKey);
  }

  close(): void {
    this.isClosed = true;
    if (this.client?.isOpen === true) this.client.destroy();
  }

  private isOpen(): boolean {
    return !this.isClosed;
  }

  private async send(inbox: string, kind: string, value: string): Promise<void> {
    await this.redis.run((client) =>
      client
        .multi()
        .xAdd(
          inbox,
          '*',
          { [kind]: value },
          { TRIM: { strategy: 'MAXLEN', strategyModifier: '~', threshold: INBOX_LENGTH } },
        )
        .pExpire(inbox, INBOX_MS)
        .exec(),
    );
  }

  private async run(client: RedisClient): Promise<void> {
    // The client retries by itself, and fails only when it is closed.
    await client.connect().catch(() => undefined);
    while (this.isOpen()) {
      const asked = new Map(this.followed);
      const places = [[this.inbox.key, this.inbox.lastId], ...[...asked].map(([key, { lastId }]) => [key, lastId])];
      const keys = places.map(([key = '']) => key);
      const ids = places.map(([, id = '']) => id);
      const limits = ['COUNT', String(ENTRIES_PER_READ), 'BLOCK', String(BLOCK_MS)];
      try {
        const reply = await client.sendCommand<Reply>(['XREAD', ...limits, 'STREAMS', ...keys, ...ids], BYTES);
        this.take(reply, asked);
      } catch {
        if (this.isOpen()) await sleep(RETRY_AFTER_MS, undefined, { ref: false });
      }
    }
  }

  /** @param asked what was followed when the command was sent. A later follower of a stream needs its beginning first. */
  private take(reply: Reply, asked: ReadonlyMap<string, Followed>): void {
    for (const [key, entries] of reply ?? []) {
      const name = key.toString();
      for (const [id, fields] of entries) {
        if (name === this.inbox.key) {
          this.inbox.lastId = id.toString();
          if (fields[0]?.toString() === CANCEL) this.onCancel(String(fields[1]));
          continue;
        }
        const followed = this.followed.get(name);
        if (followed === undefined || followed !== asked.get(name)) break;
        followed.lastId = id.toString();
        followed.listener(byField(fields));
      }
    }
  }
}

function byField(fields: readonly Buffer[]): EntryFields {
  const byName = new Map<string, Buffer>();
  for (let index = 0; index + 1 < fields.length; index += 2) {
    byName.set(String(fields[index]), fields[index + 1] as Buffer);
  }
  return byName;
}
