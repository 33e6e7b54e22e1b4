import { execFile, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { createClient, createCluster } from '@redis/client';
import slotOf from 'cluster-key-slot';
import { createCertificate, tlsSettings, type Certificate } from './certificate.js';
import { programAt, startServer } from './program.js';
import { closedPort } from './silent-server.js';
import { waitFor } from './wait-for.js';

const server = programAt('redis-server');
const client = programAt('redis-cli');

/** Whether the programs are installed. */
export const hasClusterPrograms = server !== undefined && client !== undefined;

const ROOT = dirname(dirname(import.meta.dirname));
const MASTERS = 3;
/** A short time, so that a replica soon takes the place of a dead master. */
const NODE_TIMEOUT_MS = 1000;
const READY_MS = 60_000;
const PASSWORD = 'of all servers: @/?%';

export interface ClusterOptions {
  /**
   * Whether all connections use TLS, the servers have a password, and the user of {@link TestCluster.url} has only the
   * permissions that the documents name.
   */
  readonly isSecure?: boolean;
  /** A server that is silent for longer counts as dead. Without deaths, a long time keeps a busy machine from causing some. */
  readonly nodeTimeoutMs?: number;
}

export interface SlotMove {
  /** Whether a command was refused because its keys are on two servers. */
  isFelt(): Promise<boolean>;
  /** Moves all keys. The slot itself stays until the end, so commands are redirected by `ASK`. */
  moveKeys(): Promise<void>;
  end(): Promise<void>;
}

/** Three masters and three replicas, all on this machine. */
export class TestCluster {
  readonly client: ReturnType<typeof clusterClient>;
  private readonly servers = new Map<number, ChildProcess>();

  private constructor(
    readonly ports: readonly number[],
    private readonly folder: string,
    private readonly certificate: Certificate | undefined,
    private readonly nodeTimeoutMs: number,
  ) {
    this.client = clusterClient(ports, certificate);
  }

  static async start({ isSecure = false, nodeTimeoutMs = NODE_TIMEOUT_MS }: ClusterOptions = {}): Promise<TestCluster> {
    const folder = mkdtempSync(join(tmpdir(), 'chat-cluster-'));
    const ports: number[] = [];
    while (ports.length < 2 * MASTERS) ports.push(await closedPort());
    const cluster = new TestCluster(ports, folder, isSecure ? createCertificate(folder) : undefined, nodeTimeoutMs);
    for (const port of ports) await cluster.run(port);
    const addresses = ports.map((port) => `127.0.0.1:${port}`);
    await waitFor(
      async () => (await Promise.all(ports.map((port) => cluster.cli(port, 'PING')))).every(Boolean),
      'servers',
    );
    await cluster.cli(undefined, '--cluster', 'create', ...addresses, '--cluster-replicas', '1', '--cluster-yes');
    await cluster.isWhole();
    if (isSecure)
      await Promise.all(ports.map((port) => cluster.cli(port, 'ACL', 'SETUSER', 'chat', `>${PASSWORD}`, ...rules())));
    await cluster.client.connect();
    return cluster;
  }

  /** Names three servers only. */
  get url(): string {
    const [one = 0, two = 0, three = 0] = this.ports;
    const servers = [one, two, three].map((port) => `127.0.0.1:${port}`).join();
    if (this.certificate === undefined) return `redis+cluster://${servers}`;
    return `rediss+cluster://chat:${encodeURIComponent(PASSWORD)}@${servers}`;
  }

  /** For a process that connects to the cluster with TLS. */
  get env(): Readonly<Record<string, string>> {
    return this.certificate === undefined ? {} : { NODE_EXTRA_CA_CERTS: this.certificate.certificate };
  }

  /** Waits until all slots have a master, and each of the running servers knows this. */
  async isWhole(): Promise<void> {
    const knows = async (port: number) => (await this.cli(port, 'CLUSTER', 'INFO')).includes('cluster_state:ok');
    await waitFor(async () => (await Promise.all(this.running.map(knows))).every(Boolean), 'the cluster', READY_MS);
  }

  /** Waits until each master has a replica that has all data. */
  async isReplicated(): Promise<void> {
    const hasReplica = async (port: number) => {
      const state = await this.cli(port, 'INFO', 'replication');
      return state.includes('role:slave') ? state.includes('master_link_status:up') : state.includes('state=online');
    };
    await waitFor(
      async () => (await Promise.all(this.running.map(hasReplica))).every(Boolean),
      'the replicas of the cluster',
      READY_MS,
    );
  }

  /** Returns the port of the master that serves the slot of the key. */
  async masterOf(key: string): Promise<number> {
    const slot = slotOf(key);
    for (const line of (await this.nodes()).split('\n')) {
      const [, address = '', flags = '', ...rest] = line.split(' ');
      if (!flags.includes('master') || flags.includes('fail')) continue;
      const serves = rest.slice(5).some((range) => {
        const [first = NaN, last = first] = range.split('-').map(Number);
        return first <= slot && slot <= last;
      });
      if (serves) return Number(/:(\d+)/.exec(address)?.[1]);
    }
    throw new Error(`No master serves the slot ${slot}.`);
  }

  /** Returns the ports of the replicas of a master. */
  async replicasOf(master: number): Promise<number[]> {
    const id = await this.nodeId(master);
    const lines = (await this.nodes()).split('\n').filter((line) => line.includes('slave') && line.includes(id, 41));
    return lines.map((line) => Number(/:(\d+)@/.exec(line)?.[1]));
  }

  async nodeId(port: number): Promise<string> {
    return (await this.cli(port, 'CLUSTER', 'MYID')).trim();
  }

  /** Kills a server, and waits until it is gone. */
  async kill(port: number): Promise<void> {
    const child = this.servers.get(port);
    this.servers.delete(port);
    if (child === undefined || child.exitCode !== null) return;
    const over = once(child, 'exit');
    child.kill('SIGKILL');
    await over;
  }

  /** Starts a server with the data of its cluster that it had before. */
  run(port: number): Promise<void> {
    const folder = join(this.folder, String(port));
    mkdirSync(folder, { recursive: true });
    const settings = {
      ...{ port, bind: '127.0.0.1', 'cluster-enabled': 'yes', 'cluster-node-timeout': this.nodeTimeoutMs, save: '' },
      ...{ dir: folder, 'repl-ping-replica-period': 1, 'repl-diskless-sync-delay': 0 },
      ...(this.certificate && {
        ...tlsSettings(port, this.certificate),
        ...{ 'tls-cluster': 'yes', requirepass: PASSWORD, masterauth: PASSWORD },
      }),
    };
    const words = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
    return closedPort().then((busPort) => {
      this.servers.set(port, startServer(server ?? '', [...words, '--cluster-port', String(busPort)]));
    });
  }

  /** Moves slots from one master to another, while clients use them. */
  async reshard(from: number, to: number, slots: number): Promise<void> {
    const ids = ['--cluster-from', await this.nodeId(from), '--cluster-to', await this.nodeId(to)];
    const words = ['reshard', `127.0.0.1:${to}`, ...ids, '--cluster-slots', String(slots), '--cluster-yes'];
    // redis-cli moves nothing until all servers know of the last change.
    await waitFor(
      () =>
        this.cli(undefined, '--cluster', ...words).catch((error: unknown) => {
          if (!String(error).includes('Please fix your cluster problems before resharding')) throw error;
        }),
      'the servers to agree',
      READY_MS,
    );
  }

  /** Begins to move the slot of a key. Only this key is moved, the other keys of the slot stay until the end. */
  async beginMove(key: string, from: number, to: number): Promise<SlotMove> {
    const slot = String(slotOf(key));
    const [fromId, toId] = [await this.nodeId(from), await this.nodeId(to)];
    const [source, target] = [await createClient(at(from)).connect(), await createClient(at(to)).connect()];
    const migrate = (keys: readonly string[]) =>
      source.sendCommand(['MIGRATE', '127.0.0.1', String(to), '', '0', '5000', 'KEYS', ...keys]);
    await target.sendCommand(['CLUSTER', 'SETSLOT', slot, 'IMPORTING', fromId]);
    await source.sendCommand(['CLUSTER', 'SETSLOT', slot, 'MIGRATING', toId]);
    await migrate([key]);
    return {
      isFelt: async () => (await source.info('errorstats')).includes('TRYAGAIN'),
      moveKeys: async () => {
        await migrate(await source.sendCommand<string[]>(['CLUSTER', 'GETKEYSINSLOT', slot, '100']));
      },
      end: async () => {
        await target.sendCommand(['CLUSTER', 'SETSLOT', slot, 'NODE', toId]);
        await source.sendCommand(['CLUSTER', 'SETSLOT', slot, 'NODE', toId]);
        source.destroy();
        target.destroy();
      },
    };
  }

  /** Runs redis-cli. Returns an empty text if the server does not answer. */
  async cli(port: number | undefined, ...words: string[]): Promise<string> {
    const address = port === undefined ? [] : ['-h', '127.0.0.1', '-p', String(port)];
    const login = this.certificate
      ? ['--tls', '--cacert', this.certificate.certificate, '-a', PASSWORD, '--no-auth-warning']
      : [];
    try {
      return (await promisify(execFile)(client ?? '', [...address, ...login, ...words], { timeout: READY_MS })).stdout;
    } catch (error) {
      if (port !== undefined) return '';
      throw error;
    }
  }

  async keys(pattern: string): Promise<string[]> {
    const found = await Promise.all(this.running.map((port) => this.cli(port, '--scan', '--pattern', pattern)));
    return [...new Set(found.join('\n').split('\n').filter(Boolean))];
  }

  async stop(): Promise<void> {
    this.client.destroy();
    for (const port of [...this.servers.keys()]) await this.kill(port);
    rmSync(this.folder, { recursive: true });
  }

  private get running(): number[] {
    return [...this.servers.keys()];
  }

  private nodes(): Promise<string> {
    return this.cli(this.running[0], 'CLUSTER', 'NODES');
  }
}

function at(port: number) {
  return { socket: { host: '127.0.0.1', port } };
}

/** Returns the permissions in docs/operations.md. */
function rules(): string[] {
  const document = readFileSync(join(ROOT, 'docs', 'operations.md'), 'utf8');
  const [, words = ''] = /^ACL SETUSER chat on >password (.*)$/m.exec(document) ?? [];
  return ['on', ...words.split(' ')];
}

function clusterClient(ports: readonly number[], certificate: Certificate | undefined) {
  const rootNodes = ports.map(at);
  const secure = certificate && {
    password: PASSWORD,
    socket: { tls: true as const, ca: readFileSync(certificate.certificate) },
  };
  return createCluster({ rootNodes, defaults: { ...secure } }).on('error', () => undefined);
}
