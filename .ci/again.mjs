// Runs the files with failed tests once more, each alone: node .ci/again.mjs <report>
// The report is one of vitest's JSON reporter. That of the second run goes to the folder `again` beside it, under the same name. A test
// that fails only beside hundreds of others on a busy machine is named by the summary, but is no failure. More than MAX_FILES are
// never chance.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const MAX_FILES = 4;

const [report] = process.argv.slice(2);
const files = filesWithFailures();
if (files.length > MAX_FILES) console.log(`${files.length} files have failed tests: none is run again`);
else if (files.length > 0) runAgain();

function filesWithFailures() {
  try {
    const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
    return testResults.filter(({ status }) => status === 'failed').map(({ name }) => name);
  } catch {
    // The run was stopped before its end, which the summary tells.
    return [];
  }
}

function runAgain() {
  const folder = join(dirname(report), 'again');
  mkdirSync(folder, { recursive: true });
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${join(folder, basename(report))}`];
  const options = ['run', '--config', 'test/vitest.config.ts', '--maxWorkers=1', ...reporters];
  spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', ...options, ...files], { stdio: 'inherit' });
}
