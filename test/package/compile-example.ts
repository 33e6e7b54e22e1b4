import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const EXAMPLE = join(import.meta.dirname, 'example-app');

/** What `SpawnedProcess` starts: the path from the folder of the built service. */
export const COMPILED_EXAMPLE = join('..', 'test', 'package', 'output', 'main.js');

/**
 * Compiles the example against the types of the built package, as a team's own build does. Within this repository, so that
 * Node finds `chat-streaming-service` by the package's own name.
 *
 * @throws {Error} with what the compiler says.
 */
export function compileExample(): void {
  const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  const { status, stdout, stderr } = spawnSync(process.execPath, [compiler, '-p', EXAMPLE], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`The example does not compile:\n${stdout}${stderr}`);
}
