// The stores of a replica under measurement, both behind counting proxies. Redis is a separate process, because the
// statistics of a shared Redis include other clients. PostgreSQL already runs, and the replica gets a new schema in it.
import { createClient } from '@redis/client';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { CountingProxy, postgresStatements, redisCommands } from './counting-proxy.mjs';
import { freePort, sleep, temporaryFolder } from './processes.mjs';

const ATTEMPTS = 100;

/** @param {string} postgresUrl the URL of a database, with a user that may create schemas */
export async function startStores(postgresUrl) {
  const redisPort = await freePort();
  const server = spawn('redis-server', ['--port', String(redisPort), '--save', '', '--dir', temporaryFolder()], {
    stdio: 'ignore',
  });
  process.on('exit', () => server.kill('SIGKILL'));
  const redis = await connected(redisPort);

  const schema = `chat_scale_${randomBytes(6).toString('hex')}`;
  const client = new pg.Client({ connectionString: postgresUrl });
  await client.connect();
  await client.query(`CREATE SCHEMA ${schema}`);

  const url = new URL(postgresUrl);
  const proxies = {
    redis: await CountingProxy.start(redisPort, redisCommands),
    postgres: await CountingProxy.start(Number(url.port || 5432), postgresStatements),
  };
  url.port = String(proxies.postgres.port);
  url.searchParams.set('options', `-c search_path=${schema}`);
  return {
    redis,
    environment: { DATABASE_URL: url.href, REDIS_URL: `redis://127.0.0.1:${proxies.redis.port}` },
    /** The traffic of the replica so far, and the CPU time of Redis for it. */
    async reading() {
      const spent = /^used_cpu_user:([\d.]+)/m.exec(await redis.info('cpu'))?.[1];
      const stats = await redis.info('commandstats');
      const scripts = /^cmdstat_evalsha:calls=(\d+),usec=(\d+)/m.exec(stats);
      return {
        at: performance.now(),
        redis: { ...proxies.redis.traffic },
        postgres: { ...proxies.postgres.traffic },
        redisCpuMicros: Number(spent) * 1e6,
        scripts: { calls: Number(scripts?.[1] ?? 0), micros: Number(scripts?.[2] ?? 0) },
      };
    },
    async stop() {
      await client.query(`DROP SCHEMA ${schema} CASCADE`);
      await client.end();
      redis.destroy();
      server.kill('SIGKILL');
    },
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
