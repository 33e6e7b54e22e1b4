/**
 * Mutation testing, folder by folder: `npm run mutate`, or `npm run mutate -- usage auth/session`. Fails where the tests notice less
 * than the score that `stryker.config.mjs` asks for. Reports lie in `test/mutation/output`.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SUITES, suiteOf } from './suites.mjs';

const ROOT = join(import.meta.dirname, '..', '..');
const STRYKER = join(ROOT, 'node_modules', '.bin', 'stryker');

const asked = process.argv.slice(2);
const unknown = asked.filter((path) => suiteOf(path) === undefined || !existsSync(join(ROOT, 'src', path)));
if (unknown.length > 0) {
  console.error(
    `Not mutated: ${unknown.join(', ')}. There are ${Object.keys(SUITES).join(', ')}, and the folders in them.`,
  );
  process.exit(2);
}

const failed = [];
for (const path of asked.length > 0 ? asked : Object.keys(SUITES)) {
  console.log(`\n== src/${path}`);
  const { status } = spawnSync(STRYKER, ['run', join('test', 'mutation', 'stryker.config.mjs')], {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, MUTATED_PATH: path },
  });
  if (status !== 0) failed.push(path);
}
if (failed.length > 0) console.error(`\nBelow the score, or not run: ${failed.join(', ')}`);
process.exitCode = failed.length > 0 ? 1 : 0;
