// Prints the tables of docs/performance.md.
//
//   npm run build && node test/bench/page.mjs         about 45 minutes on a machine without other load
//   node test/bench/page.mjs --rounds 3 --lines ''    fewer rounds, only the Node of this process
//   node test/bench/page.mjs --only short,tools       some scenarios
//
// The other lines of Node come from the package registry: see .ci/with-node.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { REPOSITORY, temporaryFolder } from './processes.mjs';
import { SCENARIOS } from './scenarios.mjs';

/** @typedef {import('./report.mjs').Finding} Finding */

/** The scenarios that are measured with each line of Node. */
const ON_EACH_LINE = ['full', 'packed', 'paced', 'short', 'health', 'models', 'idle', 'rest', 'start'];
/** The servers that stand in a column of their own. */
const EMPTY_HANDLERS = ['nest', 'leanNest'];

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    only: { type: 'string', default: SCENARIOS.map(({ name }) => name).join() },
    lines: { type: 'string', default: '22,24,26' },
    smoke: { type: 'boolean', default: false },
  },
});
const folder = temporaryFolder();

function run(command, parameters) {
  const { status, stdout } = spawnSync(command, parameters, {
    cwd: REPOSITORY,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 2 ** 26,
  });
  // The numbers of the scenarios before a failure are not lost.
  if (status !== 0) console.error(`${command} ${parameters.join(' ')} ended with ${status}.`);
  return stdout;
}

/** @returns {{ machine: ReturnType<typeof import('./report.mjs').machine>, findings: Finding[] }} */
function measure(line, only, ...before) {
  const file = join(folder, `${line}.json`);
  const size = options.smoke ? ['--smoke'] : ['--rounds', options.rounds];
  const [command, ...parameters] = [...before, 'node', 'test/bench/run.mjs', '--only', only, '--json', file, ...size];
  run(command, parameters);
  return JSON.parse(readFileSync(file, 'utf8'));
}

const shown = (value) => (value === null ? '' : Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3));
const row = (cells) => `| ${cells.join(' | ')} |`;
const head = (cells) => `${row(cells)}\n${row(cells.map(() => '---'))}`;
/** A value that only one server has, has no ratio. JSON has no NaN. */
const ratioOf = ({ ratio, ratioRange: [low, high] }) =>
  ratio === null ? '' : `${ratio.toFixed(2)} (${low.toFixed(2)} … ${high.toFixed(2)})`;
const metOf = ({ met }) => (met === undefined ? '' : met ? 'yes' : '**no**');

/** The table of the rows whose first server is the relay, or of all others. */
function table(findings, isOfRelay) {
  const rows = findings.filter(
    ({ scenario, side }) => (firstOf(scenario) === 'relay') === isOfRelay && !EMPTY_HANDLERS.includes(side),
  );
  const lines = rows.map((finding) => {
    const handlers = findings
      .filter(
        ({ scenario, id, side }) => scenario === finding.scenario && id === finding.id && EMPTY_HANDLERS.includes(side),
      )
      .map(({ ratio }) => ratio.toFixed(2));
    const cells = [finding.label, shown(finding.base), shown(finding.measured), ratioOf(finding)];
    return row([
      ...cells,
      finding.target.replace('ratio ', ''),
      metOf(finding),
      ...(isOfRelay ? [handlers.join(', ')] : []),
    ]);
  });
  const columns = isOfRelay ? ['', 'lean relay', 'service'] : ['', 'first', 'second'];
  const more = isOfRelay ? ['empty Nest handler, with our adapter'] : [];
  return [head([...columns, 'ratio', 'wanted', 'met', ...more]), ...lines].join('\n');
}

const firstOf = (name) => SCENARIOS.find((scenario) => scenario.name === name)?.sides?.[0] ?? 'relay';

/** The ratios with each line of Node. For a row with a limit, the value of the service. */
function tableOfLines(measured) {
  const names = Object.keys(measured);
  const rows = measured[names[0]].findings.filter(
    ({ scenario, target }) => target !== '' && ON_EACH_LINE.includes(scenario),
  );
  const cellOf = (name, { scenario, id, side }) => {
    const found = measured[name].findings.find(
      (one) => one.scenario === scenario && one.id === id && one.side === side,
    );
    if (found === undefined) return '';
    return found.target.startsWith('ratio') ? found.ratio.toFixed(2) : shown(found.measured);
  };
  const lines = rows.map((finding) => row([finding.label, ...names.map((name) => cellOf(name, finding))]));
  return [head(['', ...names.map((name) => `Node ${name}`)]), ...lines].join('\n');
}

const own = measure('own', options.only);
const { date, cpu, cores, memoryGb, node, commit } = own.machine;
const measured = { [node.slice(1).split('.')[0]]: own };
const onEachLine = ON_EACH_LINE.filter((name) => options.only.split(',').includes(name)).join();
for (const line of options.lines.split(',').filter((each) => each !== '' && onEachLine !== '')) {
  measured[line] = measure(line, onEachLine, '.ci/with-node', line);
}
const load = Math.max(...own.findings.map(({ foreignCores }) => foreignCores));
console.log(
  [
    `${date.slice(0, 10)}, ${cpu}, ${cores} cores, ${memoryGb} GB, Node ${node.slice(1)}, commit ${commit}; medians of ` +
      `${options.rounds} rounds, the range of the ratio in brackets; other programs kept up to ${load.toFixed(1)} cores busy.`,
    table(own.findings, true),
    table(own.findings, false),
    tableOfLines(measured),
    run('node', ['test/bench/allocations.mjs']),
  ].join('\n\n'),
);
process.exit(0);
