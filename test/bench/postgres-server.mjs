// The PostgreSQL of a replica under measurement, behind a counting proxy, and behind PgBouncer if wanted. PostgreSQL already
// runs, and the replica gets a new database in it.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { CountingProxy, postgresStatements } from './counting-proxy.mjs';
import { freePort, sleep, temporaryFolder } from './processes.mjs';

/** The server that the tests use, too. */
export const DEFAULT_POSTGRES = 'postgres://postgres@127.0.0.1:5432/test';

const ATTEMPTS = 100;
/** PgBouncer refuses to run as root. */
const NOBODY = 65_534;
const POOL_SIZE = 10;
/** The unit of CPU time in /proc. */
const TICK_MICROS = 10_000;

/**
 * @param {string} serverUrl the URL of a database, with a user that may create databases
 * @param {boolean} isPooled whether PgBouncer in transaction mode stands between the replica and PostgreSQL
 */
export async function startPostgres(serverUrl, isPooled) {
  const name = `chat_scale_${randomBytes(6).toString('hex')}`;
  const admin = new pg.Client({ connectionString: serverUrl });
  await admin.connect();
  await admin.query(`CREATE DATABASE ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const bouncer = isPooled ? await startBouncer(url) : undefined;
  const proxy = await CountingProxy.start(bouncer?.port ?? Number(url.port || 5432), postgresStatements);
  url.port = String(proxy.port);
  return {
    url: url.href,
    get connections() {
      return proxy.connections;
    },
    get traffic() {
      return { ...proxy.traffic };
    },
    /** The CPU time of PgBouncer, in microseconds. */
    bouncerMicros: () => (bouncer === undefined ? 0 : cpuMicrosOf(bouncer.child.pid)),
    /** The connections to PostgreSQL itself. */
    async serverConnections() {
      const { rows } = await admin.query('SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = $1', [
        name,
      ]);
      return rows[0].count;
    },
    async stop() {
      bouncer?.child.kill('SIGKILL');
      await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
      await admin.end();
    },
  };
}

async function startBouncer({ hostname, port, username }) {
  const own = await freePort();
  const folder = temporaryFolder();
  chmodSync(folder, 0o755);
  const users = join(folder, 'users');
  writeFileSync(users, `"${username}" ""\n`);
  const settings = {
    ...{ listen_addr: '127.0.0.1', listen_port: own, unix_socket_dir: '', auth_type: 'trust', auth_file: users },
    ...{ pool_mode: 'transaction', default_pool_size: POOL_SIZE },
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  const file = join(folder, 'pgbouncer.ini');
  writeFileSync(file, `[databases]\n* = host=${hostname} port=${port || 5432}\n[pgbouncer]\n${lines.join('\n')}\n`);
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const child = spawn('pgbouncer', [file], {
    stdio: 'ignore',
    env: { PATH: `${process.env.PATH}:/usr/sbin` },
    ...user,
  });
  process.on('exit', () => child.kill('SIGKILL'));
  await answers(`postgres://${username}@127.0.0.1:${own}/postgres`);
  return { port: own, child };
}

async function answers(connectionString) {
  for (let attempt = 1; ; attempt += 1) {
    const client = new pg.Client({ connectionString });
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
      await sleep(50);
    }
  }
}

function cpuMicrosOf(pid) {
  // The name of the program, in brackets, is the second field. User and system time are the 14th and the 15th.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MICROS;
}
