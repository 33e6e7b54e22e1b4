import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@redis/client';
import { createCertificate, tlsSettings, type Certificate } from './certificate.js';
import { programAt, startServer } from './program.js';
import { closedPort } from './silent-server.js';
import { waitFor } from './wait-for.js';

export const redisServer = programAt('redis-server');

const MASTER = 'ours';
const QUORUM = 2;
const READY_MS = 30_000;
/** Passwords with characters that a URL must encode. */
const SERVER_PASSWORD = 'servers: a/b@c?d%e';
const SENTINEL_PASSWORD = 'sentinels: &=+#';

/** A master and a replica on different ports, and three Sentinels. */
export class SentinelGroup {
  private master: ChildProcess | undefined;
  private readonly children: ChildProcess[] = [];

  private constructor(
    private readonly folder: string,
    private readonly certificate: Certificate | undefined,
    private readonly ports: readonly number[],
  ) {}

  /** @param isSecure whether all connections use TLS, and the servers and the Sentinels each have a password. */
  static async start({ isSecure }: { readonly isSecure: boolean }): Promise<SentinelGroup> {
    const folder = mkdtempSync(join(tmpdir(), 'chat-sentinel-'));
    const ports: number[] = [];
    while (ports.length < 5) ports.push(await closedPort());
    const group = new SentinelGroup(folder, isSecure ? createCertificate(folder) : undefined, ports);
    group.startAll();
    await waitFor(() => group.isReplicated(), 'the group to be ready', READY_MS);
    return group;
  }

  get url(): string {
    const [, , ...sentinels] = this.ports;
    const addresses = sentinels.map((port) => `127.0.0.1:${port}`).join();
    if (this.certificate === undefined) return `redis+sentinel://${addresses}/${MASTER}`;
    const [servers, sentinel] = [SERVER_PASSWORD, SENTINEL_PASSWORD].map(encodeURIComponent);
    return `rediss+sentinel://:${servers}@${addresses}/${MASTER}?sentinel_password=${sentinel}`;
  }

  /** For a process that connects to the group with TLS. */
  get env(): Readonly<Record<string, string>> {
    return this.certificate === undefined ? {} : { NODE_EXTRA_CA_CERTS: this.certificate.certificate };
  }

  async killMaster(): Promise<void> {
    this.master?.kill('SIGKILL');
    if (this.master !== undefined) await once(this.master, 'exit');
  }

  async stop(): Promise<void> {
    for (const child of this.children) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const over = once(child, 'exit');
      child.kill('SIGKILL');
      await over;
    }
    rmSync(this.folder, { recursive: true });
  }

  private startAll(): void {
    const [master = 0, replica = 0, ...sentinels] = this.ports;
    const password = this.certificate && { requirepass: SERVER_PASSWORD, masterauth: SERVER_PASSWORD };
    this.master = this.run(master, { save: '', ...password });
    this.run(replica, { save: '', replicaof: `127.0.0.1 ${master}`, ...password });
    for (const port of sentinels) {
      const settings = {
        'sentinel monitor': `${MASTER} 127.0.0.1 ${master} ${QUORUM}`,
        'sentinel down-after-milliseconds': `${MASTER} 500`,
        'sentinel failover-timeout': `${MASTER} 3000`,
        ...(this.certificate && {
          requirepass: SENTINEL_PASSWORD,
          'sentinel sentinel-pass': `"${SENTINEL_PASSWORD}"`,
          'sentinel auth-pass': `${MASTER} "${SERVER_PASSWORD}"`,
        }),
      };
      this.run(port, settings, '--sentinel');
    }
  }

  private run(port: number, settings: Readonly<Record<string, string>>, ...words: string[]): ChildProcess {
    const folder = join(this.folder, String(port));
    mkdirSync(folder);
    const own = this.certificate === undefined ? { port: String(port) } : tlsSettings(port, this.certificate);
    const file = join(folder, 'redis.conf');
    const all = Object.entries({ ...own, bind: '127.0.0.1', dir: folder, ...settings });
    const isList = (name: string) => name.startsWith('sentinel ') || name === 'replicaof';
    writeFileSync(
      file,
      `${all.map(([name, value]) => (isList(name) ? `${name} ${value}` : `${name} "${value}"`)).join('\n')}\n`,
    );
    const child = startServer(redisServer ?? '', [file, ...words]);
    this.children.push(child);
    return child;
  }

  /** Whether the replica follows the master, and the Sentinels know each other and the replica. */
  private async isReplicated(): Promise<boolean> {
    const [, replica = 0, ...sentinels] = this.ports;
    const replication = await this.info(replica, SERVER_PASSWORD, 'replication');
    const known = await Promise.all(sentinels.map((port) => this.info(port, SENTINEL_PASSWORD, 'sentinel')));
    return (
      replication.includes('master_link_status:up') && known.every((state) => state.includes('slaves=1,sentinels=3'))
    );
  }

  private async info(port: number, password: string, section: string): Promise<string> {
    const { certificate } = this;
    const secure = certificate && { tls: true as const, ca: readFileSync(certificate.certificate) };
    const client = createClient({
      ...(certificate && { password }),
      socket: { host: '127.0.0.1', port, reconnectStrategy: false, ...secure },
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return await client.sendCommand<string>(['INFO', section]);
    } catch {
      return '';
    } finally {
      if (client.isOpen) client.destroy();
    }
  }
}
