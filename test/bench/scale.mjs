// Measures the load of one replica on PostgreSQL and Redis, and the memory of its open streams. These are the numbers of the
// scale sheet.
//
//   npm run build && node test/bench/scale.mjs                      about 2 minutes
//   node test/bench/scale.mjs --cluster --pgbouncer                 with a Redis Cluster of three masters, and PgBouncer
//   node test/bench/scale.mjs --postgres postgres://user@host/db    uses another server, and creates a database in it
//   node test/bench/scale.mjs --smoke                               tiny sizes: checks that everything runs
//
// Needs redis-server, and pgbouncer if wanted. CPU is the user and system time of a process. Proxies count the connections,
// commands, statements and bytes. The time of scripts comes from INFO commandstats of Redis, and includes time in which the
// machine runs something else.
import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { parseArgs } from 'node:util';
import { load } from './client.mjs';
import { sleep } from './processes.mjs';
import { idleStream } from './scenarios/idle.mjs';
import { paced } from './scenarios/paced.mjs';
import { completeStreams, providerIsIdle } from './scenarios/scenario.mjs';
import { machine } from './report.mjs';
import { DEFAULT_POSTGRES, startPostgres } from './postgres-server.mjs';
import { startRedis } from './redis-servers.mjs';
import { NO_LIMIT_REACHED, prepare } from './servers.mjs';

const { values: options } = parseArgs({
  options: {
    postgres: { type: 'string', default: DEFAULT_POSTGRES },
    cluster: { type: 'boolean', default: false },
    pgbouncer: { type: 'boolean', default: false },
    smoke: { type: 'boolean', default: false },
  },
});
const size = options.smoke
  ? { warmUp: 50, streams: 100, admitted: 20, held: 50, windowMs: 2_000, paced: { ...paced.size, count: 20 } }
  : { warmUp: 500, streams: 2_000, admitted: 200, held: 2_000, windowMs: 24_000, paced: paced.size };
const WIDTH = 16;

const redis = await startRedis(options.cluster);
const postgres = await startPostgres(options.postgres, options.pgbouncer);
const stand = await prepare({
  scripts: ['short-20', 'idle', size.paced.script],
  gatewayCommand: 'node dist/main.js',
  key: undefined,
  profileFolder: undefined,
  tier: NO_LIMIT_REACHED,
  stores: { DATABASE_URL: postgres.url, REDIS_URL: redis.url },
});
const server = await stand.startGateway();

/** Measures the commands, bytes, script time and CPU time that are used during an action. The action may be a wait. */
async function spent(action) {
  const [before, cpuBefore] = [await reading(), await server.process.usage()];
  await action();
  const [after, cpuAfter] = [await reading(), await server.process.usage()];
  const difference = (store) => ({
    commands: after[store].commands - before[store].commands,
    sent: after[store].sent - before[store].sent,
    received: after[store].received - before[store].received,
  });
  return {
    seconds: (after.at - before.at) / 1000,
    redis: difference('redis'),
    postgres: difference('postgres'),
    scripts: {
      calls: after.scripts.calls - before.scripts.calls,
      micros: after.scripts.micros - before.scripts.micros,
    },
    redisCpuMicros: after.scripts.cpuMicros - before.scripts.cpuMicros,
    bouncerMicros: after.bouncerMicros - before.bouncerMicros,
    cpuMicros: cpuAfter.cpuMicros - cpuBefore.cpuMicros,
  };
}

/** The traffic of the replica so far, and the CPU time of the stores for it. */
async function reading() {
  return {
    at: performance.now(),
    redis: redis.traffic,
    postgres: postgres.traffic,
    scripts: await redis.statistics(),
    bouncerMicros: postgres.bouncerMicros(),
  };
}

/** Runs durable streams to their end, one after the other on each of several connections. */
async function durableStreams(count) {
  const one = () =>
    new Promise((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${server.key}`,
        'content-type': 'application/json',
        'idempotency-key': randomUUID(),
      };
      const options = { port: server.port, host: '127.0.0.1', path: '/api/v1/chat/stream', method: 'POST', headers };
      const messages = [{ role: 'user', content: 'Hello' }];
      request(options, async (response) => {
        let text = '';
        for await (const bytes of response.setEncoding('utf8')) text += bytes;
        if (text.endsWith('data: {"content":"","done":true}\n\n')) resolve(undefined);
        else reject(new Error(`A durable stream is not complete: ${response.statusCode} ${text.slice(-200)}`));
      })
        .on('error', reject)
        .end(JSON.stringify({ model: 'bench/short-20', messages }));
    });
  let left = count;
  const worker = async () => {
    while (left-- > 0) await one();
  };
  await Promise.all(Array.from({ length: WIDTH }, worker));
}

const each = (amount, count) => Math.round((amount / count) * 100) / 100;
const rates = ({ seconds, redis, postgres, cpuMicros, bouncerMicros, scripts }) => ({
  redisCommandsPerSecond: each(redis.commands, seconds),
  redisBytesPerSecond: each(redis.sent + redis.received, seconds),
  redisScriptMicrosPerSecond: each(scripts.micros, seconds),
  statementsPerSecond: each(postgres.commands, seconds),
  bouncerMicrosPerSecond: each(bouncerMicros, seconds),
  cpuMicrosPerSecond: each(cpuMicros, seconds),
});

async function measure() {
  await completeStreams(server, 'short-20', { count: size.warmUp, width: WIDTH });
  await sleep(1_000);

  const quiet = await spent(() => sleep(size.windowMs));
  const [useKey] = await redis.keys('chat:{*}:use');
  const account = useKey?.slice(0, -':use'.length) ?? '';
  const memoryOf = async () => {
    const keys = ['use', 'streams', 'tokens'].map((kind) => `${account}:${kind}`);
    const bytes = await Promise.all(keys.map((key) => redis.memoryOf(key)));
    return bytes.reduce((sum, one) => sum + one, 0);
  };
  const before = await server.process.usage('collect');
  const ended = [];
  const open = (count) => load(server, { count, width: WIDTH }, () => idleStream(server, ended));
  const connections = await open(1);
  await sleep(500);
  const memoryOfOne = await memoryOf();
  // Opens only a few streams, so that renewals of the leases of open streams hardly count.
  const admission = await spent(async () => connections.push(...(await open(size.admitted))));
  connections.push(...(await open(size.held - size.admitted - 1)));
  const memoryOfAll = await memoryOf();
  const holding = await spent(() => sleep(size.windowMs));
  const after = await server.process.usage();
  if (ended.length > 0) throw new Error(`An idle stream ended: ${JSON.stringify(ended[0])}`);
  for (const connection of connections) connection.close();
  await providerIsIdle(stand);
  // Waits until the stores have recorded the end of these streams, so that the next measurement does not include it.
  await sleep(5_000);

  const short = await spent(async () => {
    await completeStreams(server, 'short-20', { count: size.streams, width: WIDTH });
    await sleep(1_000);
  });

  const durable = await spent(async () => {
    await durableStreams(size.streams / 10);
    await sleep(1_000);
  });
  const textKeys = await redis.keys('chat:stream:{*}:*');
  const textKey = textKeys.find((name) => !name.endsWith(':readers')) ?? '';
  const ofText = await redis.memoryOf(textKey);
  const ofMeta = await redis.memoryOf(textKey.replace(/:[^:]*$/, ''));

  // If the machine is too busy, the report contains the error message here, and keeps the other numbers.
  const chunks = await paced
    .warmUp(stand, server, size.paced)
    .then(() => paced.measure(stand, server, size.paced))
    .then(
      ({ cpu }) => ({ count: size.paced.count, cpuMicrosPerChunk: each(cpu, 1) }),
      ({ message }) => message,
    );

  const admissions = size.admitted;
  // Without the time that the servers need for themselves.
  const redisCpuOf = (run) => run.redisCpuMicros - (quiet.redisCpuMicros / quiet.seconds) * run.seconds;
  const storeConnections = {
    redis: redis.connections,
    postgres: postgres.connections,
    behindPgBouncer: await postgres.serverConnections(),
  };
  return {
    machine: machine(),
    stores: { redis: options.cluster ? 'cluster of 3 masters' : 'one server', pgbouncer: options.pgbouncer },
    connections: storeConnections,
    admission: {
      redisCommands: each(admission.redis.commands, admissions),
      bytesSent: each(admission.redis.sent, admissions),
      bytesReceived: each(admission.redis.received, admissions),
      redisMicros: each(admission.scripts.micros, admission.scripts.calls),
    },
    wholeStream: {
      redisCommands: each(short.redis.commands, size.streams),
      redisBytes: each(short.redis.sent + short.redis.received, size.streams),
      redisScriptMicros: each(short.scripts.micros, size.streams),
      redisCpuMicros: each(redisCpuOf(short), size.streams),
      postgresStatements: each(short.postgres.commands, size.streams),
      postgresBytes: each(short.postgres.sent + short.postgres.received, size.streams),
      bouncerMicros: each(short.bouncerMicros, size.streams),
      cpuMicros: each(short.cpuMicros, size.streams),
    },
    wholeDurableStream: {
      redisCommands: each(durable.redis.commands, size.streams / 10),
      redisBytes: each(durable.redis.sent + durable.redis.received, size.streams / 10),
      redisScriptMicros: each(durable.scripts.micros, size.streams / 10),
      redisCpuMicros: each(redisCpuOf(durable), size.streams / 10),
      cpuMicros: each(durable.cpuMicros, size.streams / 10),
      redisBytesKept: ofText + ofMeta,
    },
    redisMemory: {
      bytesOfAnAccountWithOneStream: memoryOfOne,
      bytesOfEachFurtherStream: each(memoryOfAll - memoryOfOne, size.held - 1),
    },
    replicaWithoutStreams: rates(quiet),
    replicaThatHolds: { streams: size.held, ...rates(holding) },
    heldStream: { residentKilobytes: each(after.rssKb - before.rssKb, size.held) },
    residentMegabytesBefore: Math.round(before.rssKb / 1024),
    pacedStreams: chunks,
  };
}

try {
  console.log(JSON.stringify(await measure(), undefined, 2));
} finally {
  await server.process.stop();
  redis.stop();
  await postgres.stop();
}
process.exit(0);
