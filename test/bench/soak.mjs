// Runs the service under mixed load for a while, and then looks for leaks: memory, sockets and stream slots.
//
//   npm run build && node test/bench/soak.mjs                 3 minutes
//   node test/bench/soak.mjs --minutes 0.3                    checks that everything runs; memory is checked from 1 minute on
//   node test/bench/soak.mjs --growth 10                      how many percent memory may grow from the middle to the end
//   node test/bench/soak.mjs --gateway-cmd 'node test/bench/relay.mjs' --key none     the lean relay, to compare
//
// The clients (soak-clients.mjs) read to the end, leave early, read slowly, or have a failing provider. All clients share one
// account. The tier of the account allows only a few streams more than the clients open. If slots are not released, streams
// are therefore refused within the run. The exit code is 1 if any check fails.
import { parseArgs } from 'node:util';
import { assertComplete, load, readStream } from './client.mjs';
import { Connection } from './connection.mjs';
import { sleep } from './processes.mjs';
import { machine } from './report.mjs';
import { prepare } from './servers.mjs';
import { CLIENT_KINDS, LINES, runClients } from './soak-clients.mjs';
import { median } from './statistics.mjs';

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '3' },
    growth: { type: 'string', default: '10' },
    key: { type: 'string' },
    'gateway-cmd': { type: 'string', default: 'node dist/main.js' },
  },
});
const lastsMs = Number(options.minutes) * 60_000;
const growthLimit = Number(options.growth) / 100;
// In a shorter run, the memory of the process still grows to its normal level.
const judgesMemory = lastsMs >= 60_000;
const STREAM_LIMIT = LINES + 12;
// Enough samples for a median of the middle fifth and of the last fifth.
const SAMPLES = 40;

const stand = await prepare({
  scripts: [...new Set([...CLIENT_KINDS.flatMap(({ scripts }) => scripts), 'paced-20x50'])],
  gatewayCommand: options['gateway-cmd'],
  key: options.key,
  profileFolder: undefined,
  tier: { concurrent_streams: STREAM_LIMIT },
});
const gateway = await stand.startGateway();
const hasAccounts = gateway.key !== undefined;
assertComplete(
  await load(gateway, { count: 400, width: 16 }, (connection) => readStream(connection, gateway, 'short-20')),
);

/** @type {{ what: string, fine: boolean, details: string }[]} */
const checks = [];
const check = (what, fine, details) => checks.push({ what, fine, details });

/** The number of open descriptors, without the connections to the provider that the server keeps for later requests. */
async function ownDescriptors() {
  const { descriptors } = await gateway.process.usage();
  const { connections } = await stand.provider.counters();
  return descriptors - connections;
}
await sleep(500);
const descriptorsBefore = await ownDescriptors();

const endsAt = performance.now() + lastsMs;
const isOver = () => performance.now() >= endsAt;
const clients = Promise.all(CLIENT_KINDS.map((kind) => runClients(kind, gateway, isOver)));
const samples = [];
for (let number = 1; number <= SAMPLES; number += 1) {
  await sleep(endsAt - lastsMs + (lastsMs * number) / SAMPLES - performance.now());
  samples.push(await gateway.process.usage('collect'));
}
for (const { name, exchanges, wrong } of await clients) {
  check(`a client that ${name}`, wrong.length === 0, `${exchanges} exchanges, ${wrong.length} wrong ${wrong[0] ?? ''}`);
}

const fifth = (number) => samples.slice((SAMPLES / 5) * (number - 1), (SAMPLES / 5) * number);
for (const [what, member] of [
  ['resident memory', 'rssKb'],
  ['heap in use', 'heapKb'],
]) {
  const [middle, last] = [fifth(3), fifth(5)].map((some) => median(some.map((sample) => sample[member])) / 1024);
  const details = `${middle.toFixed(1)} MB in the middle, ${last.toFixed(1)} MB at the end, each after a collection`;
  check(`${what} is flat`, !judgesMemory || last <= middle * (1 + growthLimit), details);
}

const openStreams = async () => (await stand.provider.counters()).streams;
const streamsLeft = await settled(openStreams, (value) => value === 0);
check('no stream is left at the provider', streamsLeft === 0, `${streamsLeft} streams`);
const descriptorsAfter = await settled(ownDescriptors, (value) => value <= descriptorsBefore + 2);
const { connections } = await stand.provider.counters();
check('no descriptor is left', descriptorsAfter <= descriptorsBefore + 2, `${descriptorsBefore} → ${descriptorsAfter}`);
check('few connections are kept', connections <= LINES * 2, `${connections} connections to the provider`);

// Opens as many streams as the tier allows, all at once. If a slot is lost, one stream is refused.
const together = await load(gateway, { count: STREAM_LIMIT, width: STREAM_LIMIT }, (connection) =>
  readStream(connection, gateway, 'paced-20x50'),
);
const complete = together.filter((result) => result.complete).length;
check('every slot is free again', complete === STREAM_LIMIT, `${complete} of ${STREAM_LIMIT} streams at once`);
if (hasAccounts) {
  const refused = await oneTooMany();
  check('there are no more slots than that', refused === 'concurrency_limit_exceeded', refused);
  const exit = await gateway.process.stop();
  check('it ends with 0 on SIGTERM', exit === 0, String(exit));
}

const on = machine();
console.log(
  `${on.cpu}, ${on.cores} cores, Node ${on.node}, commit ${on.commit}, ${on.date}; ${options.minutes} minutes\n`,
);
console.log('| | fine? | |\n|---|---|---|');
for (const { what, fine, details } of checks)
  console.log(`| ${what} | ${fine ? 'yes' : '**no**'} | ${details.trim()} |`);
process.exit(checks.every(({ fine }) => fine) ? 0 : 1);

/** Reads a value until it is acceptable, at most for 15 s. Idle connections close by themselves after a while. */
async function settled(read, isFine) {
  const deadline = performance.now() + 15_000;
  for (;;) {
    const value = await read();
    if (isFine(value) || performance.now() > deadline) return value;
    await sleep(250);
  }
}

/** Opens one stream more than the limit allows, and returns its error code. */
async function oneTooMany() {
  const open = await Promise.all(Array.from({ length: STREAM_LIMIT }, () => Connection.open(gateway)));
  await Promise.all(
    open.map((one) => new Promise((onChunk) => void readStream(one, gateway, 'idle', { onChunk }).then(onChunk))),
  );
  const connection = await Connection.open(gateway);
  const { errorCode, status } = await readStream(connection, gateway, 'short-20');
  for (const one of [...open, connection]) one.close();
  return errorCode ?? `status ${status}`;
}
