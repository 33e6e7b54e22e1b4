import type { RedisConnection } from '../../../../redis/redis-connection.js';
import { inboxKey } from './stream-keys.js';

const MESSAGES_PER_READ = 64;
const INBOX_LENGTH = 1_000;
const INBOX_MS = 60_000;
const CANCEL = 'c';

type Reply = [key: string, entries: [id: string, fields: string[]][]][] | null;

/** Carries the requests to cancel a stream to the replica that generates the stream. */
export class Cancellations {
  private lastId = '0-0';

  /** @param onCancel called with the key of the text of a stream that another replica wants to stop. */
  constructor(
    private readonly redis: RedisConnection,
    private readonly replica: string,
    private readonly onCancel: (textKey: string) => void,
  ) {}

  /** Asks the replica that generates a stream to stop. */
  async send(replica: string, textKey: string): Promise<void> {
    const inbox = inboxKey(replica);
    const TRIM = { strategy: 'MAXLEN', strategyModifier: '~', threshold: INBOX_LENGTH } as const;
    await this.redis.run(inbox, (client) =>
      Promise.all([client.xAdd(inbox, '*', { [CANCEL]: textKey }, { TRIM }), client.pExpire(inbox, INBOX_MS)]),
    );
  }

  /** Reads the requests to this replica that have arrived since the last call. */
  async read(): Promise<void> {
    const key = inboxKey(this.replica);
    const command = ['XREAD', 'COUNT', String(MESSAGES_PER_READ), 'STREAMS', key, this.lastId];
    const reply = await this.redis.run(key, (client) => client.sendCommand<Reply>(command));
    for (const [id, fields] of reply?.[0]?.[1] ?? []) {
      this.lastId = id;
      if (fields[0] === CANCEL) this.onCancel(String(fields[1]));
    }
  }
}
