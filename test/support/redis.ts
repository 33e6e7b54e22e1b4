import { createClient } from '@redis/client';
import { randomUUID } from 'node:crypto';

const REDIS_ADDRESS = 'redis://127.0.0.1:6379';
const CLAIM = 'chat-test:claim';
/** A run that was killed leaves its claim behind. */
const CLAIM_MS = 600_000;
const DATABASES = Array.from({ length: 15 }, (_, index) => index + 1);

/** A logical database of a test's own. */
export interface TestRedis {
  readonly url: string;
  readonly port: number;
  readonly database: number;
  readonly client: ReturnType<typeof clientOf>;
  /** Empties it, and leaves it to others. */
  drop(): Promise<void>;
}

/** An empty Redis, or `undefined` where none answers, which is said loudly. */
export async function testRedis(): Promise<TestRedis | undefined> {
  for (const database of shuffled(DATABASES)) {
    const client = clientOf(`${REDIS_ADDRESS}/${database}`);
    try {
      await client.connect();
    } catch {
      console.warn(`\n!!! ${REDIS_ADDRESS} does not answer: the tests on Redis are LEFT OUT !!!\n`);
      return undefined;
    }
    if ((await client.set(CLAIM, randomUUID(), { NX: true, PX: CLAIM_MS })) === null) {
      client.destroy();
      continue;
    }
    return {
      url: `${REDIS_ADDRESS}/${database}`,
      port: 6379,
      database,
      client,
      async drop() {
        await client.flushDb();
        await client.close();
      },
    };
  }
  throw new Error('All logical databases of Redis are in use by other tests.');
}

function clientOf(url: string) {
  const client = createClient({ url, socket: { reconnectStrategy: false, connectTimeout: 2000 } });
  return client.on('error', () => undefined);
}

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
