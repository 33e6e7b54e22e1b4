// The Redis of a replica under measurement, behind counting proxies: one server, or a cluster of three masters. The servers are
// separate processes, because the statistics of a shared Redis include other clients.
import { createClient } from '@redis/client';
import { spawn } from 'node:child_process';
import { CountingProxy, redisCommands } from './counting-proxy.mjs';
import { freePort, sleep, temporaryFolder } from './processes.mjs';

const ATTEMPTS = 100;
const MASTERS = 3;
const SLOTS = 16_384;

/** @param {boolean} isCluster */
export async function startRedis(isCluster) {
  const servers = [];
  for (let index = 0; index < (isCluster ? MASTERS : 1); index += 1) servers.push(await startServer(isCluster));
  if (isCluster) await joinCluster(servers);
  const [first] = servers;
  const at = servers.map(({ proxy }) => `127.0.0.1:${proxy.port}`).join();
  const sum = (numberOf) => servers.reduce((total, server) => total + numberOf(server), 0);
  return {
    url: isCluster ? `redis+cluster://${at}` : `redis://${at}`,
    get connections() {
      return sum(({ proxy }) => proxy.connections);
    },
    get traffic() {
      return {
        commands: sum(({ proxy }) => proxy.traffic.commands),
        sent: sum(({ proxy }) => proxy.traffic.sent),
        received: sum(({ proxy }) => proxy.traffic.received),
      };
    },
    /** The scripts that were run, and the CPU time of the servers for everything. */
    async statistics() {
      const all = await Promise.all(servers.map(({ client }) => statisticsOf(client)));
      const total = (name) => all.reduce((count, each) => count + each[name], 0);
      return { calls: total('calls'), micros: total('micros'), cpuMicros: total('cpuMicros') };
    },
    /** @returns {Promise<string[]>} */
    async keys(pattern) {
      return (await Promise.all(servers.map(({ client }) => client.keys(pattern)))).flat();
    },
    /** @returns {Promise<number>} the bytes of the key, or 0 if there is none */
    async memoryOf(key) {
      for (const { client } of servers) {
        const bytes = await client.memoryUsage(key, { SAMPLES: 0 }).catch(() => null);
        if (bytes !== null) return bytes;
      }
      return 0;
    },
    stop() {
      for (const { client, child } of servers) {
        client.destroy();
        child.kill('SIGKILL');
      }
    },
  };
}

async function startServer(isCluster) {
  const [port, busPort] = [await freePort(), await freePort()];
  const proxy = await CountingProxy.start(port, redisCommands);
  const announced = [
    ...['--cluster-enabled', 'yes', '--cluster-config-file', `nodes-${port}.conf`, '--cluster-port', String(busPort)],
    // Clients of the cluster connect to the proxies.
    ...['--cluster-announce-ip', '127.0.0.1', '--cluster-announce-port', String(proxy.port)],
  ];
  const words = ['--port', String(port), '--save', '', '--dir', temporaryFolder(), ...(isCluster ? announced : [])];
  const child = spawn('redis-server', words, { stdio: 'ignore' });
  process.on('exit', () => child.kill('SIGKILL'));
  return { port, busPort, proxy, child, client: await connected(port) };
}

async function joinCluster(servers) {
  const [first] = servers;
  for (const [index, { client, port, busPort }] of servers.entries()) {
    const from = Math.floor((index * SLOTS) / servers.length);
    const to = Math.floor(((index + 1) * SLOTS) / servers.length) - 1;
    await client.sendCommand(['CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1)]);
    await client.sendCommand(['CLUSTER', 'ADDSLOTSRANGE', String(from), String(to)]);
    await first.client.sendCommand(['CLUSTER', 'MEET', '127.0.0.1', String(port), String(busPort)]);
  }
  const isReady = async ({ client }) => {
    const state = await client.sendCommand(['CLUSTER', 'INFO']);
    return state.includes('cluster_state:ok') && state.includes(`cluster_size:${servers.length}`);
  };
  for (let attempt = 1; !(await Promise.all(servers.map(isReady))).every(Boolean); attempt += 1) {
    if (attempt === 4 * ATTEMPTS) throw new Error('The cluster is not ready.');
    await sleep(50);
  }
}

async function statisticsOf(client) {
  const cpu = await client.info('cpu');
  const seconds = ['user', 'sys'].map((kind) => Number(new RegExp(`^used_cpu_${kind}:([\\d.]+)`, 'm').exec(cpu)?.[1]));
  const script = /^cmdstat_evalsha:calls=(\d+),usec=(\d+)/m.exec(await client.info('commandstats'));
  return {
    calls: Number(script?.[1] ?? 0),
    micros: Number(script?.[2] ?? 0),
    cpuMicros: (seconds[0] + seconds[1]) * 1e6,
  };
}

async function connected(port) {
  for (let attempt = 1; ; attempt += 1) {
    const client = createClient({ url: `redis://127.0.0.1:${port}`, socket: { reconnectStrategy: false } });
    client.on('error', () => undefined);
    try {
      return await client.connect();
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
      await sleep(50);
    }
  }
}
