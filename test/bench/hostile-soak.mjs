// Measures how hostile clients (hostile-clients.mjs) affect the streams of honest clients.
//
//   npm run build && node test/bench/hostile-soak.mjs         5 minutes, 200 streams
//   node test/bench/hostile-soak.mjs --minutes 0.3            checks that everything runs; memory is checked from 1 minute on
//   node test/bench/hostile-soak.mjs --minutes 1 --peaceful   without the hostile clients, to measure the noise of the machine
//   node test/bench/hostile-soak.mjs --minutes 1 --only keys  only the kinds of hostile clients whose name contains the word
//
// Every honest stream must be complete, no chunk may be later than 250 ms, `/health` must always answer, and memory must not
// grow. Otherwise the exit code is 1.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { getRequest, readStream } from './client.mjs';
import { Connection } from './connection.mjs';
import { sleep } from './processes.mjs';
import { machine } from './report.mjs';
import { prepare } from './servers.mjs';
import { median, quantile } from './statistics.mjs';

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    streams: { type: 'string', default: '200' },
    growth: { type: 'string', default: '10' },
    peaceful: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    'gateway-cmd': { type: 'string', default: 'node dist/main.js' },
  },
});
const lastsMs = Number(options.minutes) * 60_000;
const growthLimit = Number(options.growth) / 100;
const judgesMemory = lastsMs >= 60_000;
const LATE_MS = 250;
const HEALTH_EVERY_MS = 100;
const SAMPLES = 40;
const SCRIPT = 'paced-300x100';

const stand = await prepare({
  scripts: [SCRIPT, 'short-20'],
  gatewayCommand: options['gateway-cmd'],
  key: undefined,
  profileFolder: undefined,
  otherTiers: { ordinary: { requests_per_minute: 600, concurrent_streams: 50 } },
  standIn: true,
});
const gateway = await stand.startGateway();
const hostileKey = await stand.createKey('ordinary');

const endsAt = performance.now() + lastsMs;
const isOver = () => performance.now() >= endsAt;

const lateness = [];
const wrong = [];
let whole = 0;
let chunks = 0;
async function honestLine(number) {
  // The streams start one after another, because real users do not arrive at the same moment.
  await sleep(number * 10);
  let connection = await Connection.open(gateway);
  while (!isOver()) {
    if (connection.closed) connection = await Connection.open(gateway);
    const onStamp = (latencyMs) => {
      chunks += 1;
      lateness.push(latencyMs);
    };
    // Timers may fire a millisecond early.
    const leaving = setTimeout(() => connection.close(), endsAt - performance.now() + 50);
    const result = await readStream(connection, gateway, SCRIPT, { onStamp });
    clearTimeout(leaving);
    if (isOver()) break;
    if (result.complete) whole += 1;
    else {
      wrong.push(`${result.status} ${result.errorCode ?? result.wrong ?? 'cut'}`);
      await sleep(1000);
    }
  }
  connection.close();
}

const healthMs = [];
async function watchHealth() {
  while (!isOver()) {
    const beganAt = performance.now();
    let status = 0;
    try {
      const connection = await Connection.open(gateway);
      await connection.exchange(getRequest(gateway, '/api/v1/health'), { onHead: (value) => (status = value) });
      connection.close();
    } catch {
      // The status stays 0, which counts as a failure.
    }
    if (status === 200) healthMs.push(performance.now() - beganAt);
    else wrong.push(`/health ${status}`);
    await sleep(HEALTH_EVERY_MS);
  }
}

const script = fileURLToPath(new URL('hostile-clients.mjs', import.meta.url));
const hostile = options.peaceful
  ? undefined
  : spawn(process.execPath, [script, String(gateway.port), hostileKey, options.only], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
process.on('exit', () => hostile?.kill('SIGKILL'));
const hostileReport = hostile && text(hostile.stdout);

const samples = [];
const clients = [watchHealth(), ...Array.from({ length: Number(options.streams) }, (_, number) => honestLine(number))];
for (let number = 1; number <= SAMPLES; number += 1) {
  await sleep(endsAt - lastsMs + (lastsMs * number) / SAMPLES - performance.now());
  samples.push(await gateway.process.usage());
}
await Promise.all(clients);
const atRest = [];
if (hostile !== undefined) {
  hostile.kill('SIGTERM');
  const ended = once(hostile, 'exit');
  await Promise.race([ended, sleep(30_000)]);
}
await sleep(5000);
atRest.push(await gateway.process.usage('collect'));
const openStreams = (await stand.provider.counters()).streams;

const checks = [];
const check = (what, fine, details) => checks.push({ what, fine, details });
const late = lateness.filter((ms) => ms > LATE_MS).length;
const ms = (value) => `${value.toFixed(1)} ms`;
check('every honest stream is whole', wrong.length === 0, `${whole} whole, ${wrong.length} wrong ${wrong[0] ?? ''}`);
check(
  `no chunk later than ${LATE_MS} ms`,
  chunks > 0 && late === 0,
  `${chunks} chunks: median ${ms(median(lateness))}, p99 ${ms(quantile(lateness, 0.99))}, longest ${ms(quantile(lateness, 1))}, ${late} late`,
);
check('/health', healthMs.length > 0, `median ${ms(median(healthMs))}, longest ${ms(quantile(healthMs, 1))}`);
const fifth = (number) => samples.slice((SAMPLES / 5) * (number - 1), (SAMPLES / 5) * number);
const [second, last] = [fifth(2), fifth(5)].map((some) => median(some.map(({ rssKb }) => rssKb)) / 1024);
const peak = Math.max(...samples.map(({ peakRssKb }) => peakRssKb)) / 1024;
check(
  'memory is flat',
  !judgesMemory || last <= second * (1 + growthLimit),
  `${second.toFixed(0)} MB in the second fifth, ${last.toFixed(0)} MB in the last, peak ${peak.toFixed(0)} MB, ${(atRest[0].rssKb / 1024).toFixed(0)} MB afterwards`,
);
check('no stream is left at the provider', openStreams === 0, `${openStreams} streams`);
const exit = await gateway.process.stop();
check('it ends with 0 on SIGTERM', exit === 0, String(exit));

const on = machine();
console.log(
  `${on.cpu}, ${on.cores} cores, Node ${on.node}, commit ${on.commit}, ${on.date}; ${options.minutes} minutes\n`,
);
console.log('| | fine? | |\n|---|---|---|');
for (const { what, fine, details } of checks) {
  console.log(`| ${what} | ${fine ? 'yes' : '**no**'} | ${details.trim()} |`);
}
if (hostileReport !== undefined) console.log(`\nThe hostile clients: ${(await hostileReport).trim()}`);
process.exit(checks.every(({ fine }) => fine) ? 0 : 1);
