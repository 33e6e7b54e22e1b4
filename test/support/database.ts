import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { DatabaseConfig } from '../../src/platform/config/config.js';
import { dataSourceOptions, openDataSource } from '../../src/platform/database/database.module.js';
import { STORES } from './stores.js';

/** A server that is not there refuses at once. On a busy machine, one that is there takes seconds. */
const CONNECTION_TIMEOUT_MS = 30_000;
const POSTGRES_URL = 'postgres://postgres@127.0.0.1:5432/test';
/** The environment variable with the prefix of the schemas that the processes of a test run keep for their next tests. */
export const SCHEMAS_OF_RUN = 'TEST_SCHEMAS_OF_RUN';

/** A database that only one test uses. */
export interface TestDatabase {
  readonly config: DatabaseConfig;
  /** Removes the database. Close all connections to the database first. */
  drop(): Promise<void>;
}

/** A database engine. Every test suite about stored data must pass on every engine. */
export interface TestEngine {
  readonly name: string;
  /** A database without rows. It may already have the tables of the service. */
  create(): Promise<TestDatabase>;
  /** A database without tables, for tests of the migrations and of the first start. */
  createEmpty(): Promise<TestDatabase>;
}

/** The value of DATABASE_URL for the database. */
export function urlOf({ config }: TestDatabase): string {
  return config.type === 'sqlite' ? `sqlite:${config.path}` : config.url;
}

/** For tests that are about one engine only. Suites about stored data use {@link testEngines}. */
export const sqlite: TestEngine = { name: 'SQLite', create: createFile, createEmpty: createFile };

async function createFile(): Promise<TestDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'chat-test-'));
  return {
    config: { type: 'sqlite', path: join(folder, 'not', 'yet', 'there', 'chat.sqlite') },
    drop: () => rm(folder, { recursive: true, force: true }),
  };
}

const postgres: TestEngine = {
  name: 'PostgreSQL',
  async create() {
    const prefix = process.env[SCHEMAS_OF_RUN];
    if (prefix === undefined) return postgres.createEmpty();
    const schema = keptSchemas.pop() ?? (await createWithTables(prefix));
    return { config: configOf(schema), drop: () => keep(schema, prefix) };
  },
  async createEmpty() {
    const schema = await createSchema('chat_test_');
    return { config: configOf(schema), drop: () => dropSchema(schema) };
  },
};

/** The schemas of this process that no test uses. To create the tables takes longer than most tests that need them. */
const keptSchemas: string[] = [];
/** What the tables of the service consist of, to find schemas that a test has changed. */
let tablesOfService: Promise<string> | undefined;

async function createWithTables(prefix: string): Promise<string> {
  const schema = await createSchema(prefix);
  await (await openDataSource(dataSourceOptions(configOf(schema)))).destroy();
  tablesOfService ??= tablesIn(schema);
  return schema;
}

/** Keeps the schema for another test, without rows and with a new name, which connections to the old one do not know. */
async function keep(schema: string, prefix: string): Promise<void> {
  if ((await tablesIn(schema)) !== (await tablesOfService)) return dropSchema(schema);
  const name = newName(prefix);
  await execute(`ALTER SCHEMA ${schema} RENAME TO ${name}; ${WITHOUT_TRIGGERS}; ${deleteRows(name)}`);
  keptSchemas.push(name);
}

const WITHOUT_TRIGGERS = `SET session_replication_role = 'replica'`;

/** Also without the statistics of the planner, by which the next test would read other plans. */
function deleteRows(schema: string): string {
  const ofSchema = `relnamespace = '${schema}'::regnamespace`;
  const used = `${ofSchema} AND relkind = 'r' AND relname <> 'migrations' AND (pg_relation_size(oid) > 0 OR reltuples <> -1)`;
  return `DO $$ DECLARE used text; BEGIN
    SELECT string_agg(oid::regclass::text, ', ') INTO used FROM pg_class WHERE ${used};
    IF used IS NOT NULL THEN EXECUTE 'TRUNCATE ' || used || ' CASCADE'; END IF;
    DELETE FROM pg_statistic WHERE starelid IN (SELECT oid FROM pg_class WHERE ${ofSchema});
  END $$`;
}

/** A text that differs if the tables, columns, indexes, triggers, functions or migrations differ. */
async function tablesIn(schema: string): Promise<string> {
  const parts = await execute(`
    SELECT format('%s %s %s %s', c.relname, a.attname, a.atttypid, a.attnotnull) AS part
      FROM pg_class c LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
      WHERE c.relnamespace = '${schema}'::regnamespace
    UNION ALL SELECT format('%s %s %s', conname, contype, convalidated)
      FROM pg_constraint WHERE connamespace = '${schema}'::regnamespace
    UNION ALL SELECT format('%s %s', tgname, tgenabled) FROM pg_trigger JOIN pg_class c ON c.oid = tgrelid
      WHERE NOT tgisinternal AND c.relnamespace = '${schema}'::regnamespace
    UNION ALL SELECT format('%s %s', proname, md5(prosrc)) FROM pg_proc WHERE pronamespace = '${schema}'::regnamespace
    UNION ALL SELECT name FROM ${schema}.migrations
    ORDER BY part`);
  return JSON.stringify(parts);
}

/** Removes the schemas that the processes of a test run have kept. */
export async function dropSchemasOfRun(prefix: string): Promise<void> {
  const kept = await execute(`SELECT nspname FROM pg_namespace WHERE starts_with(nspname, '${prefix}')`);
  for (const { nspname } of kept as { nspname: string }[]) await dropSchema(nspname);
}

const newName = (prefix: string): string => `${prefix}${randomBytes(8).toString('hex')}`;

async function createSchema(prefix: string): Promise<string> {
  const schema = newName(prefix);
  await execute(`CREATE SCHEMA ${schema}`);
  return schema;
}

async function dropSchema(schema: string): Promise<void> {
  await execute(`DROP SCHEMA ${schema} CASCADE`);
}

function configOf(schema: string): { readonly type: 'postgres'; readonly url: string } {
  return { type: 'postgres', url: `${POSTGRES_URL}?options=${encodeURIComponent(`-c search_path=${schema}`)}` };
}

/**
 * The engines of {@link STORES}: SQLite, and PostgreSQL if it answers. Prints a warning if PostgreSQL does not answer. Call this
 * function at the top of a test file.
 */
export async function testEngines(): Promise<readonly TestEngine[]> {
  if (STORES === 'in-process') return [sqlite];
  const inProcess = STORES === 'servers' ? [] : [sqlite];
  try {
    await execute('SELECT 1');
    return [...inProcess, postgres];
  } catch {
    console.warn(`\n!!! ${POSTGRES_URL} does not answer: the tests on PostgreSQL are LEFT OUT !!!\n`);
    // A file without any test counts as failed.
    if (inProcess.length === 0) (await import('vitest')).it.skip('on PostgreSQL, which does not answer');
    return inProcess;
  }
}

async function execute(statement: string): Promise<readonly unknown[]> {
  const client = new pg.Client({ connectionString: POSTGRES_URL, connectionTimeoutMillis: CONNECTION_TIMEOUT_MS });
  await client.connect();
  try {
    return (await client.query<object>(statement)).rows;
  } finally {
    await client.end();
  }
}
