import { execFileSync } from 'node:child_process';
import { cpus, totalmem } from 'node:os';
import { REPOSITORY } from './processes.mjs';
import { median } from './statistics.mjs';

/** @typedef {Partial<Record<import('./scenarios/scenario.mjs').Side, Record<string, number>>>} Round */

/**
 * @typedef {object} Finding
 * @property {string} scenario
 * @property {string} id the name of the value in the scenario
 * @property {string} side the second server
 * @property {string} label
 * @property {number} base the first server: the median of the rounds
 * @property {number} measured the second server: the median of the rounds
 * @property {number} ratio the median of the ratios of the rounds. Both servers of a round run right after each other, under
 *   similar load of the machine.
 * @property {readonly [number, number]} ratioRange
 * @property {number | undefined} documented the ratio in docs/performance.md
 * @property {string} target
 * @property {boolean | undefined} met
 * @property {number} foreignCores how many cores other processes kept busy during the measurement
 */

/**
 * @param {import('./scenarios/scenario.mjs').Scenario} scenario
 * @param {readonly Round[]} rounds
 * @param {number} foreignCores
 * @returns {Finding[]}
 */
export function findings(scenario, rounds, foreignCores) {
  const [baseSide, measuredSide, ...others] = scenario.sides ?? ['relay', 'gateway'];
  const finding = (side, { id, label, documented }) => {
    const ratios = rounds.map((round) => round[side][id] / round[baseSide][id]);
    return {
      scenario: scenario.name,
      id,
      side,
      label,
      base: median(rounds.map((round) => round[baseSide][id])),
      measured: median(rounds.map((round) => round[side][id])),
      ratio: median(ratios),
      ratioRange: [Math.min(...ratios), Math.max(...ratios)],
      documented,
      target: '',
      met: undefined,
      foreignCores,
    };
  };
  return scenario.rows.flatMap((row) => {
    const service = finding(measuredSide, row);
    return [
      { ...service, ...verdict(service.ratio, row.target, service.measured, row.limit) },
      ...(row.target === undefined ? [] : others).map((side) => finding(side, { id: row.id, label: NAMES[side] })),
    ];
  });
}

/** The labels of the servers that are measured in place of the service. */
const NAMES = {
  nest: '… of an empty Nest handler',
  leanNest: '… of an empty Nest handler with the HTTP adapter of the service',
  limitedKey: '… with a budget, and a key with a budget, limits, models and addresses',
};

/** @returns {Pick<Finding, 'target' | 'met'>} */
function verdict(ratio, target, measured, limit) {
  if (target !== undefined) return { target: `ratio ≤ ${target}`, met: ratio <= target };
  if (limit !== undefined) return { target: `≤ ${limit}`, met: measured <= limit };
  return { target: '', met: undefined };
}

/** @param {string} [node] the path of the measured Node binary */
export function machine(node = process.execPath) {
  const [cpu] = cpus();
  return {
    date: new Date().toISOString(),
    commit: commit(),
    cpu: cpu.model,
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    node: execFileSync(node, ['--version'], { encoding: 'utf8' }).trim(),
  };
}

function commit() {
  const git = (...parameters) => execFileSync('git', parameters, { cwd: REPOSITORY, encoding: 'utf8' }).trim();
  try {
    return `${git('rev-parse', '--short', 'HEAD')}${git('status', '--porcelain', 'src') === '' ? '' : ' with changes'}`;
  } catch {
    // The folder is no git checkout.
    return 'unknown';
  }
}

const shown = (value) => (Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3));

/**
 * @param {ReturnType<typeof machine> & { gateway: string }} on
 * @param {number} roundCount
 * @param {readonly Finding[]} all
 */
export function markdown(on, roundCount, all) {
  const rows = all.map(({ label, base, measured, ratio, ratioRange: [low, high], target, met, foreignCores }) =>
    [
      label,
      Number.isNaN(base) ? '' : shown(base),
      shown(measured),
      Number.isNaN(ratio) ? '' : `${ratio.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`,
      target,
      met === undefined ? '' : met ? 'yes' : '**no**',
      foreignCores.toFixed(1),
    ].join(' | '),
  );
  return [
    `${on.cpu}, ${on.cores} cores, ${on.memoryGb} GB, Node ${on.node}, commit ${on.commit}, ${on.date}, gateway \`${on.gateway}\`; ` +
      `medians of ${roundCount} interleaved round${roundCount === 1 ? '' : 's'}, range of the ratio in brackets`,
    '',
    '| | lean relay | service | ratio | target | met? | other load |',
    '|---|---|---|---|---|---|---|',
    ...rows.map((row) => `| ${row} |`),
    '',
  ].join('\n');
}
