// Measures the cost of the ledger, the metrics and the request logs: the CPU time of a short request with them, as a ratio
// to the same service without them.
//
//   npm run build && node test/bench/observability.mjs        7 rounds, about 3 minutes
//   node test/bench/observability.mjs --rounds 15 --json out.json
//   node test/bench/observability.mjs --profile DIR           the service with everything on writes its CPU profile to DIR
//
// All services run at the same time and are measured one after another. Each round begins with another service. Each ratio
// compares values of the same round, as in run.mjs.
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { watchForeignLoad } from './foreign-load.mjs';
import { freePort } from './processes.mjs';
import { machine } from './report.mjs';
import { short } from './scenarios/short.mjs';
import { prepare } from './servers.mjs';
import { median } from './statistics.mjs';

const TARGET = 1.05;

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    json: { type: 'string' },
    profile: { type: 'string' },
    count: { type: 'string', default: '3000' },
  },
});
const roundCount = Number(options.rounds);
const size = { ...short.size, count: Number(options.count) };

const stand = await prepare({ scripts: short.scripts, gatewayCommand: 'node dist/main.js' });
const quiet = { LOG_LEVEL: 'fatal' };
const profiled = options.profile === undefined ? '' : ` --cpu-prof --cpu-prof-dir=${options.profile}`;
/** The variants of the service. The first variant is the baseline of the ratios. */
const SIDES = {
  none: { command: 'node test/bench/unobserved.mjs', variables: quiet },
  ledger: { variables: quiet },
  'ledger, metrics': { variables: { ...quiet, METRICS_PORT: String(await freePort()) } },
  'ledger, metrics, logs': {
    command: `node${profiled} dist/main.js`,
    variables: { LOG_LEVEL: 'info', METRICS_PORT: String(await freePort()) },
  },
};
const names = Object.keys(SIDES);

// Starting the first service creates the account that all services share, with the built admin command next to dist/main.js.
const servers = {};
for (const name of names) {
  servers[name] = await stand.startGateway(SIDES[name]);
  await short.warmUp(stand, servers[name], size);
}
const foreignLoad = await watchForeignLoad();
const rounds = [];
for (let number = 0; number < roundCount; number += 1) {
  const round = {};
  const turn = number % names.length;
  for (const name of [...names.slice(turn), ...names.slice(0, turn)]) {
    round[name] = (await short.measure(stand, servers[name], size)).cpu;
  }
  rounds.push(round);
  process.stderr.write('.');
}
const foreignCores = await foreignLoad();
for (const server of Object.values(servers)) await server.process.stop();

const [base, ...others] = names;
const all = names.at(-1);
const findings = others.map((name) => {
  const ratios = rounds.map((round) => round[name] / round[base]);
  return {
    name,
    cpuMicros: median(rounds.map((round) => round[name])),
    ratio: median(ratios),
    range: [Math.min(...ratios), Math.max(...ratios)],
  };
});
const on = machine();
console.log(
  [
    `\n${on.cpu}, ${on.cores} cores, Node ${on.node}, commit ${on.commit}, ${on.date}; other load ${foreignCores.toFixed(1)} cores;`,
    `medians of ${roundCount} rounds of ${size.count} short streams, range of the ratio in brackets`,
    '',
    '| | CPU µs per request | ratio to none of them | target | met? |',
    '|---|---|---|---|---|',
    `| none | ${median(rounds.map((round) => round[base])).toFixed(0)} | | | |`,
    ...findings.map(({ name, cpuMicros, ratio, range: [low, high] }) => {
      const target = name === all ? `≤ ${TARGET} | ${ratio <= TARGET ? 'yes' : '**no**'}` : ' | ';
      return `| ${name} | ${cpuMicros.toFixed(0)} | ${ratio.toFixed(3)} (${low.toFixed(3)}–${high.toFixed(3)}) | ${target} |`;
    }),
    '',
  ].join('\n'),
);
if (options.json !== undefined) {
  writeFileSync(options.json, JSON.stringify({ machine: on, foreignCores, findings, rounds }, undefined, 2));
}
process.exit(0);
