import { testEngines, type TestEngine } from '../../support/database.js';
import { testRedis, type TestRedis } from '../../support/redis.js';
import { STORES } from '../../support/stores.js';

/** What replicas share. */
export interface SharedStores {
  readonly postgres: TestEngine;
  readonly redis: TestRedis;
}

/**
 * PostgreSQL and an empty Redis. `undefined` if {@link STORES} are in process, or where one does not answer, which is said loudly.
 */
export async function sharedStores(): Promise<SharedStores | undefined> {
  const postgres = (await testEngines()).find(({ name }) => name === 'PostgreSQL');
  const redis = await testRedis();
  if (postgres !== undefined && redis !== undefined) return { postgres, redis };
  if (STORES === 'in-process') return undefined;
  console.warn('\n!!! The tests of replicas are LEFT OUT: they need both PostgreSQL and Redis !!!\n');
  await redis?.drop();
  return undefined;
}
