import { execFileSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chownSync, chmodSync, copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { createCertificate, type Certificate } from './certificate.js';
import { programAt, startServer } from './program.js';
import { closedPort } from './silent-server.js';
import { waitFor } from './wait-for.js';

/** PostgreSQL refuses to run as root. */
const NOBODY = 65_534;
const USER = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};

export const initdb = programAt('initdb');
export const postgres = programAt('postgres');

/** A user of {@link PostgresWithTls} who needs a client certificate. */
export const CERTIFIED_USER = 'certified';

/**
 * A PostgreSQL server that accepts connections with TLS only, at 127.0.0.1 and 127.0.0.2. Its certificate is for 127.0.0.1 and
 * signed by itself.
 */
export class PostgresWithTls {
  private constructor(
    readonly port: number,
    private readonly folder: string,
    /** The certificate of the server, which is its CA, too. */
    readonly ca: string,
    /** The certificate of {@link CERTIFIED_USER}. */
    readonly client: Certificate,
    private readonly child: ChildProcess,
  ) {}

  static async start(): Promise<PostgresWithTls> {
    const folder = mkdtempSync(join(tmpdir(), 'chat-postgres-'));
    chmodSync(folder, 0o777);
    const server = createCertificate(folder);
    const data = join(folder, 'data');
    execFileSync(initdb ?? '', ['--pgdata', data, '--username=postgres', '--auth=trust', '--no-locale', '--no-sync'], {
      ...USER,
      cwd: folder,
      stdio: 'ignore',
    });
    const key = join(data, 'server.key');
    copyFileSync(server.key, key);
    chmodSync(key, 0o600);
    if (USER.uid !== undefined) chownSync(key, USER.uid, USER.gid);
    const port = await closedPort();
    const settings = {
      ...{ port, listen_addresses: '127.0.0.1,127.0.0.2', unix_socket_directories: '', fsync: 'off' },
      ...{ ssl: 'on', ssl_key_file: key, ssl_cert_file: server.certificate, ssl_ca_file: server.certificate },
    };
    const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`);
    appendFileSync(join(data, 'postgresql.conf'), lines.join(''));
    writeFileSync(
      join(data, 'pg_hba.conf'),
      `hostssl all ${CERTIFIED_USER} 127.0.0.0/8 cert\nhostssl all all 127.0.0.0/8 trust\n`,
    );
    const child = startServer(postgres ?? '', ['-D', data], { ...USER, cwd: folder });
    const client = signedBy(server, folder);
    const running = new PostgresWithTls(port, folder, server.certificate, client, child);
    await waitFor(() => running.createUser(), 'PostgreSQL to answer');
    return running;
  }

  /** Returns the URL of the database, without the parameters of TLS. */
  url(user = 'postgres', host = '127.0.0.1'): string {
    return `postgres://${user}@${host}:${this.port}/postgres`;
  }

  async stop(): Promise<void> {
    const over = once(this.child, 'exit');
    this.child.kill('SIGQUIT');
    await over;
    rmSync(this.folder, { recursive: true });
  }

  private async createUser(): Promise<boolean> {
    const client = new pg.Client({ connectionString: `${this.url()}?sslmode=no-verify` });
    try {
      await client.connect();
      await client.query(`CREATE ROLE ${CERTIFIED_USER} SUPERUSER LOGIN`);
      return true;
    } catch {
      return false;
    } finally {
      await client.end();
    }
  }
}

/** Creates a client certificate of {@link CERTIFIED_USER} that `ca` has signed. */
function signedBy(ca: Certificate, folder: string): Certificate {
  const client = { key: join(folder, 'client.key'), certificate: join(folder, 'client.crt') };
  const request = join(folder, 'client.csr');
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', client.key];
  execFileSync('openssl', ['req', '-new', ...key, '-subj', `/CN=${CERTIFIED_USER}`, '-out', request], {
    stdio: 'ignore',
  });
  const signature = ['-CA', ca.certificate, '-CAkey', ca.key, '-set_serial', '2', '-days', '2'];
  execFileSync('openssl', ['x509', '-req', '-in', request, ...signature, '-out', client.certificate], {
    stdio: 'ignore',
  });
  return client;
}
