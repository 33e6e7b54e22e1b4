import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { programAt, startServer } from './program.js';
import { closedPort } from './silent-server.js';
import { waitFor } from './wait-for.js';

const SERVER = 'postgres://postgres@127.0.0.1:5432';
/** PgBouncer refuses to run as root. */
const NOBODY = 65_534;

export const pgBouncer = programAt('pgbouncer');

/** PgBouncer in transaction mode, in front of a database of its own. */
export class RunningPgBouncer {
  private constructor(
    readonly url: string,
    private readonly database: string,
    private readonly child: ChildProcess,
    private readonly folder: string,
  ) {}

  static async start(): Promise<RunningPgBouncer> {
    const database = `chat_test_${randomBytes(8).toString('hex')}`;
    await onServer(`CREATE DATABASE ${database}`);
    const folder = mkdtempSync(join(tmpdir(), 'chat-pgbouncer-'));
    chmodSync(folder, 0o755);
    const port = await closedPort();
    const settings = {
      ...{ listen_addr: '127.0.0.1', listen_port: port, unix_socket_dir: '' },
      ...{ auth_type: 'trust', auth_file: join(folder, 'users'), pool_mode: 'transaction', default_pool_size: 3 },
    };
    const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
    writeFileSync(join(folder, 'users'), '"postgres" ""\n');
    const file = join(folder, 'pgbouncer.ini');
    writeFileSync(file, `[databases]\n* = host=127.0.0.1 port=5432\n[pgbouncer]\n${lines.join('\n')}\n`);
    const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
    const child = startServer(pgBouncer ?? '', [file], user);
    const url = `postgres://postgres@127.0.0.1:${port}/${database}`;
    await waitFor(() => answers(url), 'PgBouncer to answer');
    return new RunningPgBouncer(url, database, child, folder);
  }

  /** Returns the rows of a query. */
  query(statement: string): Promise<object[]> {
    return queryAt(this.url, statement);
  }

  async stop(): Promise<void> {
    const over = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await over;
    rmSync(this.folder, { recursive: true });
    await onServer(`DROP DATABASE ${this.database} WITH (FORCE)`);
  }
}

async function answers(connectionString: string): Promise<boolean> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 1000 });
  try {
    await client.connect();
    await client.end();
    return true;
  } catch {
    return false;
  }
}

async function onServer(statement: string): Promise<void> {
  await queryAt(`${SERVER}/test`, statement);
}

async function queryAt(connectionString: string, statement: string): Promise<object[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return (await client.query<object>(statement)).rows;
  } finally {
    await client.end();
  }
}
