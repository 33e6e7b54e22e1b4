import { RESP_TYPES } from '@redis/client';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisConnection } from '../../../../redis/redis-connection.js';
import type { EntryFields } from './stream-entry.js';

const ENTRIES_PER_READ = 64;
/** How often a stream is read while text arrives. Its owner writes as often. */
const READ_EVERY_MS = 50;
/** How often a stream is read after a second without text. */
const QUIET_EVERY_MS = 200;
const QUIET_AFTER_MS = 1_000;
const RETRY_AFTER_MS = 250;
const FIRST = '0-0';
/** The client returns bytes instead of texts. */
const BYTES = { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } };

type Listener = (fields: EntryFields) => void;
type Entry = [id: Buffer, fields: Buffer[]];
type Reply = [key: Buffer, entries: Entry[]][] | null;

/**
 * Reads the streams of other replicas. Each stream is read by itself, because in a cluster one command cannot read streams
 * of different slots.
 */
export class StreamFollower {
  private isClosed = false;

  constructor(private readonly redis: RedisConnection) {}

  /**
   * Reads a stream from its beginning.
   *
   * @returns a function that ends this.
   */
  follow(textKey: string, listener: Listener): () => void {
    let isFollowed = true;
    void this.readWhile(() => isFollowed && !this.isClosed, textKey, listener);
    return () => {
      isFollowed = false;
    };
  }

  close(): void {
    this.isClosed = true;
  }

  private async readWhile(isFollowed: () => boolean, textKey: string, listener: Listener): Promise<void> {
    let lastId = FIRST;
    let lastTextAt = performance.now();
    while (isFollowed()) {
      const entries = await this.read(textKey, lastId).catch(() => undefined);
      for (const [id, fields] of entries ?? []) {
        if (!isFollowed()) return;
        lastId = id.toString();
        lastTextAt = performance.now();
        listener(byField(fields));
      }
      if (entries === undefined) await delay(RETRY_AFTER_MS);
      else if (entries.length < ENTRIES_PER_READ) {
        await delay(performance.now() - lastTextAt < QUIET_AFTER_MS ? READ_EVERY_MS : QUIET_EVERY_MS);
      }
    }
  }

  private async read(textKey: string, lastId: string): Promise<Entry[]> {
    const command = ['XREAD', 'COUNT', String(ENTRIES_PER_READ), 'STREAMS', textKey, lastId];
    const reply = await this.redis.run(textKey, (client) => client.sendCommand<Reply>(command, BYTES));
    return reply?.[0]?.[1] ?? [];
  }
}

function delay(ms: number): Promise<void> {
  return sleep(ms, undefined, { ref: false });
}

/** Returns an entry by its fields, from fields and values in turn. */
export function byField(fields: readonly Buffer[]): EntryFields {
  const byName = new Map<string, Buffer>();
  for (let index = 0; index + 1 < fields.length; index += 2) {
    byName.set(String(fields[index]), fields[index + 1] as Buffer);
  }
  return byName;
}
