// Compares the service with a lean relay (relay.mjs). Both use the same scripted provider.
//
//   npm run build && node test/bench/run.mjs            all scenarios, 5 rounds, about 7 minutes
//   node test/bench/run.mjs --only full,short           some of: full, packed, paced, begin, short, full-completions,
//                                                       short-completions, tools, health, models, observed, budgeted,
//                                                       durable, durable-redis, replicas, idle, stalled, stalled-2,
//                                                       rest, start
//   node test/bench/run.mjs --rounds 9 --json out.json  more rounds; writes all numbers of all rounds to a file
//   node test/bench/run.mjs --smoke                     tiny sizes, one round: checks that everything runs, and that
//                                                       no ratio is above twice the ratio in docs/performance.md in
//                                                       three measurements
//   node test/bench/run.mjs --only full --profile DIR   the gateway writes its CPU profile to DIR when it exits
//   node test/bench/run.mjs --gateway-cmd 'node --max-semi-space-size=32 dist/main.js'
//   node test/bench/run.mjs --node /path/of/node          the Node binary of the relay and the gateway
//   node test/bench/run.mjs --gateway-cmd 'node test/bench/relay.mjs' --key none --only full,paced,short
//                                                       relay against relay, to measure the noise
//
// Every character of every answer is checked. An incomplete answer fails the run (exit code 1). A missed target does not
// fail the run, because the numbers depend on the machine, and the ratios depend on it a little. CPU is the user and system
// time of the server's process, with all its threads and ended children. The service has a ledger, all limits and request
// logs. Some scenarios also measure the relay in an empty handler of Nest (nest-relay.mjs), to show the price of Nest. Each
// round measures all servers, one right after the other. The order alternates. All servers listen on free ports
// of 127.0.0.1. The database is in a temporary folder. Everything is removed when this process exits. The last column shows
// how many cores other processes kept busy during the measurement. Above about 0.2, repeat the measurement, especially for
// the lateness.
import { mkdirSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { watchForeignLoad } from './foreign-load.mjs';
import { findings, machine, markdown } from './report.mjs';
import { SCENARIOS } from './scenarios.mjs';
import { NO_LIMIT_REACHED, prepare } from './servers.mjs';

/** @typedef {import('./scenarios/scenario.mjs').Side} Side */

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    only: { type: 'string', default: SCENARIOS.map(({ name }) => name).join() },
    smoke: { type: 'boolean', default: false },
    json: { type: 'string' },
    profile: { type: 'string' },
    key: { type: 'string' },
    node: { type: 'string', default: process.execPath },
    'gateway-cmd': { type: 'string', default: 'node dist/main.js' },
  },
});

const roundCount = options.smoke ? 1 : Number(options.rounds);
if (!Number.isInteger(roundCount) || roundCount < 1) throw new Error('--rounds takes a number from 1 on.');
const wanted = options.only.split(',').map((name) => {
  const scenario = SCENARIOS.find((candidate) => candidate.name === name);
  if (scenario === undefined) throw new Error(`No scenario is named ${name}.`);
  return scenario;
});
const scenarios = options.smoke ? wanted.filter(({ smokeSize }) => smokeSize !== undefined) : wanted;
if (options.profile !== undefined) mkdirSync(options.profile, { recursive: true });

const on = { ...machine(options.node), gateway: options['gateway-cmd'] };
const stand = await prepare({
  scripts: [...new Set(SCENARIOS.flatMap(({ scripts }) => scripts))],
  gatewayCommand: options['gateway-cmd'],
  key: options.key,
  node: options.node,
  tier: NO_LIMIT_REACHED,
  logLevel: 'info',
  profileFolder: options.profile === undefined ? undefined : resolve(options.profile),
});
/** @type {Record<Side, () => Promise<import('./servers.mjs').Server>>} */
const start = {
  relay: stand.startRelay,
  gateway: stand.startGateway,
  completions: stand.startCompletions,
  unobserved: stand.startUnobserved,
  observed: stand.startObserved,
  tools: stand.startTools,
  durable: stand.startDurable,
  onRedis: () => stand.startReplicas(1),
  durableOnRedis: async () => Object.assign(await stand.startReplicas(1), { isDurable: true }),
  replicas: () => stand.startReplicas(3),
  budgeted: stand.startBudgeted,
  limitedKey: stand.startLimitedKey,
  nest: stand.startNest,
  leanNest: stand.startLeanNest,
};

/** @type {Partial<Record<Side, import('./servers.mjs').Server>>} */
const kept = {};
const progress = (text) => process.stderr.write(text);

/** @param {import('./scenarios/scenario.mjs').Scenario} scenario */
async function roundsOf(scenario) {
  const size = options.smoke ? scenario.smokeSize : scenario.size;
  const sides = scenario.sides ?? ['relay', 'gateway'];
  if (!scenario.fresh) {
    for (const side of sides) {
      kept[side] ??= await start[side]();
      await scenario.warmUp(stand, kept[side], size);
    }
  }
  const rounds = [];
  for (let number = 0; number < roundCount; number += 1) {
    const round = {};
    for (const side of number % 2 === 0 ? sides : sides.toReversed()) {
      round[side] = scenario.fresh
        ? await measureFresh(scenario, side, size)
        : await scenario.measure(stand, kept[side], size);
    }
    rounds.push(round);
    progress('.');
  }
  return rounds;
}

/**
 * @param {import('./scenarios/scenario.mjs').Scenario} scenario
 * @param {Side} side
 */
async function measureFresh(scenario, side, size) {
  const server = await start[side]();
  try {
    await scenario.warmUp(stand, server, size);
    return await scenario.measure(stand, server, size);
  } finally {
    await server.process.stop();
  }
}

const MAX_SMOKE_MEASUREMENTS = 3;
const isTooSlow = ({ ratio, documented = Infinity }) => options.smoke && ratio > 2 * documented;

const all = [];
const raw = {};
// Scenarios with fresh processes come first, so that no other server runs at the same time.
try {
  for (const scenario of scenarios.toSorted((one, other) => Number(other.fresh) - Number(one.fresh))) {
    const startedAt = performance.now();
    progress(`${scenario.name} `);
    const foreignLoad = await watchForeignLoad();
    let rounds = await roundsOf(scenario);
    for (let count = 1; count < MAX_SMOKE_MEASUREMENTS && findings(scenario, rounds, 0).some(isTooSlow); count += 1) {
      rounds = await roundsOf(scenario);
    }
    const foreignCores = await foreignLoad();
    raw[scenario.name] = { foreignCores, rounds };
    all.push(...findings(scenario, rounds, foreignCores));
    progress(` ${((performance.now() - startedAt) / 1000).toFixed(1)} s\n`);
  }
} finally {
  for (const server of Object.values(kept)) await server.process.stop();
  // A scenario that fails does not lose the numbers of the scenarios before it.
  console.log(markdown(on, roundCount, all));
  if (options.json !== undefined)
    writeFileSync(options.json, JSON.stringify({ machine: on, findings: all, scenarios: raw }, undefined, 2));
}
const slower = all.filter(isTooSlow);
for (const { label, ratio, documented } of slower) {
  console.error(`${label}: the ratio is ${ratio.toFixed(2)}, more than twice the documented ${documented}.`);
}
process.exit(slower.length > 0 ? 1 : 0);
