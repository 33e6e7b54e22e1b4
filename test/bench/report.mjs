import { execFileSync } from 'node:child_process';
import { cpus, totalmem } from 'node:os';
import { REPOSITORY } from './processes.mjs';
import { median } from './statistics.mjs';

/** @typedef {{ relay: Record<string, number>, gateway: Record<string, number> }} Round */

/**
 * @typedef {object} Finding
 * @property {string} scenario
 * @property {string} label
 * @property {number} relay the median of the rounds
 * @property {number} gateway the median of the rounds
 * @property {number} ratio the median of the ratios of the rounds. Both servers of a round run right after each other, under
 *   similar load of the machine.
 * @property {readonly [number, number]} ratioRange
 * @property {number | undefined} target
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
  return scenario.rows.map(({ id, label, target }) => {
    const ratios = rounds.map(({ relay, gateway }) => gateway[id] / relay[id]);
    const ratio = median(ratios);
    return {
      scenario: scenario.name,
      label,
      relay: median(rounds.map(({ relay }) => relay[id])),
      gateway: median(rounds.map(({ gateway }) => gateway[id])),
      ratio,
      ratioRange: [Math.min(...ratios), Math.max(...ratios)],
      target,
      met: target === undefined ? undefined : ratio <= target,
      foreignCores,
    };
  });
}

export function machine() {
  const [cpu] = cpus();
  return {
    date: new Date().toISOString(),
    commit: commit(),
    cpu: cpu.model,
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    node: process.version,
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
  const rows = all.map(({ label, relay, gateway, ratio, ratioRange: [low, high], target, met, foreignCores }) =>
    [
      label,
      shown(relay),
      shown(gateway),
      `${ratio.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`,
      target === undefined ? '' : `≤ ${target.toFixed(1)}`,
      met === undefined ? '' : met ? 'yes' : '**no**',
      foreignCores.toFixed(1),
    ].join(' | '),
  );
  return [
    `${on.cpu}, ${on.cores} cores, ${on.memoryGb} GB, Node ${on.node}, commit ${on.commit}, ${on.date}, gateway \`${on.gateway}\`; ` +
      `medians of ${roundCount} interleaved round${roundCount === 1 ? '' : 's'}, range of the ratio in brackets`,
    '',
    '| | relay | gateway | gateway/relay | target | met? | other load |',
    '|---|---|---|---|---|---|---|',
    ...rows.map((row) => `| ${row} |`),
    '',
  ].join('\n');
}
