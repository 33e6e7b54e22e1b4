import { createClient } from '@redis/client';
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { STORES } from './stores.js';

const REDIS_ADDRESS = 'redis://127.0.0.1:6379';
const CLAIM = 'chat-test:claim';
/** A key of the service, or of its tests. */
const OWN_KEY = /^chat(?:-test)?:/;
/** The lifetime of a claim. Claims expire because this process cannot check whether a process on another host still runs. */
const CLAIM_MS = 600_000;
const TIMEOUT_MS = 30_000;
/** Deletes a claim if its value is still the given value. */
const DROP_CLAIM = "if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end return 0";
const DATABASES = Array.from({ length: 15 }, (_, index) => index + 1);

/** A logical Redis database that only one test uses. */
export interface TestRedis {
  readonly url: string;
  readonly port: number;
  readonly database: number;
  readonly client: ReturnType<typeof clientOf>;
  /** Empties the database, as a restart of Redis does. The test keeps the database. */
  flush(): Promise<void>;
  /** Empties the database, which also removes the claim. Other tests can then use the database. */
  drop(): Promise<void>;
}

/**
 * Claims a logical Redis database, and empties it. Returns `undefined` if {@link STORES} are in process. Prints a warning and returns
 * `undefined` if Redis does not answer.
 *
 * @throws {Error} if other tests use all databases for 30 seconds.
 */
export async function testRedis(): Promise<TestRedis | undefined> {
  if (STORES === 'in-process') return undefined;
  const deadline = performance.now() + TIMEOUT_MS;
  for (;;) {
    for (const database of shuffled(DATABASES)) {
      const client = clientOf(`${REDIS_ADDRESS}/${database}`);
      try {
        await client.connect();
      } catch {
        console.warn(`\n!!! ${REDIS_ADDRESS} does not answer: the tests on Redis are LEFT OUT !!!\n`);
        return undefined;
      }
      if (await isClaimed(client)) return claimed(database, client);
      client.destroy();
    }
    if (performance.now() > deadline) throw new Error('All logical databases of Redis are in use by other tests.');
    await wait(100);
  }
}

/**
 * Tries to claim the database for this process. Returns whether this process now owns the database. Takes over the claim of a
 * dead process on this host, because a killed process does not remove its claim. A database with keys of others stays untouched.
 */
async function isClaimed(client: ReturnType<typeof clientOf>): Promise<boolean> {
  const claim = `${hostname()} ${process.pid} ${randomUUID()}`;
  if ((await client.set(CLAIM, claim, { NX: true, PX: CLAIM_MS })) === null) {
    const other = await client.get(CLAIM);
    if (other === null || !isOfDeadProcess(other)) return false;
    await client.eval(DROP_CLAIM, { keys: [CLAIM], arguments: [other] });
    if ((await client.set(CLAIM, claim, { NX: true, PX: CLAIM_MS })) === null) return false;
  }
  for await (const keys of client.scanIterator()) {
    if (keys.every((key) => OWN_KEY.test(key))) continue;
    await client.eval(DROP_CLAIM, { keys: [CLAIM], arguments: [claim] });
    return false;
  }
  // Services of earlier tests may have written after their database was given up.
  await client.multi().flushDb().set(CLAIM, claim, { PX: CLAIM_MS }).exec();
  return true;
}

/** Gives up what earlier tests of this process have claimed and not dropped. */
export async function dropOwnClaims(): Promise<void> {
  const client = clientOf(REDIS_ADDRESS);
  try {
    await client.connect();
  } catch {
    return;
  }
  for (const database of DATABASES) {
    await client.select(database);
    const claim = await client.get(CLAIM);
    if (claim?.startsWith(`${hostname()} ${process.pid} `) === true) await client.flushDb();
  }
  client.destroy();
}

function isOfDeadProcess(claim: string): boolean {
  const [host, pid] = claim.split(' ');
  if (host !== hostname()) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch {
    return true;
  }
}

function claimed(database: number, client: ReturnType<typeof clientOf>): TestRedis {
  return {
    url: `${REDIS_ADDRESS}/${database}`,
    port: 6379,
    database,
    client,
    async flush() {
      const claim = (await client.get(CLAIM)) ?? '';
      await client.multi().flushDb().set(CLAIM, claim, { PX: CLAIM_MS }).exec();
    },
    async drop() {
      await client.flushDb();
      await client.close();
    },
  };
}

function clientOf(url: string) {
  const client = createClient({ url, socket: { reconnectStrategy: false, connectTimeout: TIMEOUT_MS } });
  return client.on('error', () => undefined);
}

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
