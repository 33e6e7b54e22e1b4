// Runs the files with failed tests once more, each alone: node .ci/again.mjs <folder>
// The folder has the reports of vitest's JSON reporter, by step. Each second report goes to <folder>/again. A test that fails only beside
// hundreds of others on a busy machine is named by the summary, but is no failure. More than MAX_FILES are never chance.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const MAX_FILES = 4;
/** The projects of vitest that a step runs. */
const PROJECTS = { tests: ['together', 'alone'], system: ['system'], browser: ['browser'], clients: ['clients'] };

const [folder] = process.argv.slice(2);
const failed = Object.keys(PROJECTS).map((step) => [step, filesWithFailures(step)]);
const count = failed.reduce((sum, [, files]) => sum + files.length, 0);
if (count > MAX_FILES) console.log(`${count} files have failed tests: none is run again`);
else for (const [step, files] of failed) if (files.length > 0) runAgain(step, files);

function filesWithFailures(step) {
  try {
    const { testResults } = JSON.parse(readFileSync(join(folder, `${step}.json`), 'utf8'));
    return testResults.filter(({ status }) => status === 'failed').map(({ name }) => name);
  } catch {
    return [];
  }
}

function runAgain(step, files) {
  mkdirSync(join(folder, 'again'), { recursive: true });
  const projects = PROJECTS[step].map((project) => `--project=${project}`);
  const report = `--outputFile.json=${join(folder, 'again', `${step}.json`)}`;
  const options = [...projects, '--maxWorkers=1', '--reporter=default', '--reporter=json', report];
  spawnSync('npx', ['vitest', 'run', '--config', 'test/vitest.config.ts', ...files, ...options], { stdio: 'inherit' });
}
