import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';

const ROOT = dirname(dirname(import.meta.dirname));

/** Builds the service for tests that start it as a process, if the build is older than the sources. */
export default function setup(): void {
  const { status } = spawnSync(process.execPath, [join(ROOT, 'src', 'bootstrap', 'build-if-needed.mjs')], {
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error('The service does not build.');
}
