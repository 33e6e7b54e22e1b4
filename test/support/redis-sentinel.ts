import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@redis/client';
import { programAt } from './program.js';
import { closedPort } from './silent-server.js';
import { waitFor } from './wait-for.js';

export const redisServer = programAt('redis-server');

const MASTER = 'ours';
const [MASTER_HOST, REPLICA_HOST] = ['127.0.0.2', '127.0.0.3'];

/** A master and a replica with the same port on two addresses of this machine, and three Sentinels. */
export class SentinelGroup {
  private constructor(
    readonly url: string,
    private readonly port: number,
    private readonly servers: readonly ChildProcess[],
    private readonly folder: string,
  ) {}

  static async start(): Promise<SentinelGroup> {
    const folder = mkdtempSync(join(tmpdir(), 'chat-sentinel-'));
    const port = await closedPort();
    const run = (name: string, lines: readonly string[], ...words: string[]): ChildProcess => {
      const file = join(folder, `${name}.conf`);
      writeFileSync(file, `${[...lines, `dir ${folder}`, 'protected-mode no'].join('\n')}\n`);
      return spawn(redisServer ?? '', [file, ...words], { stdio: 'ignore' });
    };
    const own = (host: string) => [`bind ${host}`, `port ${port}`, 'save ""', `replica-announce-ip ${host}`];
    const servers = [
      run('master', own(MASTER_HOST)),
      run('replica', [...own(REPLICA_HOST), `replicaof ${MASTER_HOST} ${port}`]),
    ];
    const ports = [await closedPort(), await closedPort(), await closedPort()];
    for (const [index, own] of ports.entries()) {
      const lines = [
        ...['bind 127.0.0.1', `port ${own}`, `sentinel monitor ${MASTER} ${MASTER_HOST} ${port} 2`],
        ...[`sentinel down-after-milliseconds ${MASTER} 500`, `sentinel failover-timeout ${MASTER} 3000`],
      ];
      servers.push(run(`sentinel-${index}`, lines, '--sentinel'));
    }
    const addresses = ports.map((own) => `127.0.0.1:${own}`).join();
    const group = new SentinelGroup(`redis+sentinel://${addresses}/${MASTER}?port=${port}`, port, servers, folder);
    await waitFor(() => group.isReplicated(ports[0] ?? 0), 'the group to be ready', 30_000);
    return group;
  }

  async killMaster(): Promise<void> {
    const [master] = this.servers;
    master?.kill('SIGKILL');
    if (master !== undefined) await once(master, 'exit');
  }

  async stop(): Promise<void> {
    for (const server of this.servers) {
      if (server.exitCode !== null || server.signalCode !== null) continue;
      const over = once(server, 'exit');
      server.kill('SIGKILL');
      await over;
    }
    rmSync(this.folder, { recursive: true });
  }

  /** Whether the replica follows the master, and the Sentinels know each other and the replica. */
  private async isReplicated(sentinelPort: number): Promise<boolean> {
    const replication = await answerOf(`redis://${REPLICA_HOST}:${this.port}`, ['INFO', 'replication']);
    const known = await answerOf(`redis://127.0.0.1:${sentinelPort}`, ['INFO', 'sentinel']);
    return replication.includes('master_link_status:up') && known.includes('slaves=1,sentinels=3');
  }
}

async function answerOf(url: string, command: string[]): Promise<string> {
  const client = createClient({ url, socket: { reconnectStrategy: false } });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await client.sendCommand<string>(command);
  } catch {
    return '';
  } finally {
    if (client.isOpen) client.destroy();
  }
}
