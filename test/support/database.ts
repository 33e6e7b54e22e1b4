import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { DatabaseConfig } from '../../src/platform/config/config.js';

/** A server that is not there refuses at once. On a busy machine, one that is there takes seconds. */
const CONNECTION_TIMEOUT_MS = 30_000;
const POSTGRES_URL = 'postgres://postgres@127.0.0.1:5432/test';

/** An empty database that only one test uses. */
export interface TestDatabase {
  readonly config: DatabaseConfig;
  /** Removes the database. Close all connections to the database first. */
  drop(): Promise<void>;
}

/** A database engine. Every test suite about stored data must pass on every engine. */
export interface TestEngine {
  readonly name: string;
  create(): Promise<TestDatabase>;
}

const sqlite: TestEngine = {
  name: 'SQLite',
  async create() {
    const folder = await mkdtemp(join(tmpdir(), 'chat-test-'));
    return {
      config: { type: 'sqlite', path: join(folder, 'not', 'yet', 'there', 'chat.sqlite') },
      drop: () => rm(folder, { recursive: true, force: true }),
    };
  },
};

const postgres: TestEngine = {
  name: 'PostgreSQL',
  async create() {
    const schema = `chat_test_${randomBytes(8).toString('hex')}`;
    await execute(`CREATE SCHEMA ${schema}`);
    const options = encodeURIComponent(`-c search_path=${schema}`);
    return {
      config: { type: 'postgres', url: `${POSTGRES_URL}?options=${options}` },
      drop: () => execute(`DROP SCHEMA ${schema} CASCADE`),
    };
  },
};

/** SQLite, and PostgreSQL if it answers. Prints a warning if PostgreSQL does not answer. */
export async function testEngines(): Promise<readonly TestEngine[]> {
  try {
    await execute('SELECT 1');
    return [sqlite, postgres];
  } catch {
    console.warn(`\n!!! ${POSTGRES_URL} does not answer: the tests on PostgreSQL are LEFT OUT !!!\n`);
    return [sqlite];
  }
}

async function execute(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: POSTGRES_URL, connectionTimeoutMillis: CONNECTION_TIMEOUT_MS });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
