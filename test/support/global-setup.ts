import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { dirname, join, relative } from 'node:path';
import type { TestProject } from 'vitest/node';
import { dropSchemasOfRun, SCHEMAS_OF_RUN } from './database.js';

const ROOT = dirname(dirname(import.meta.dirname));

/** Builds the service for tests that start it as a process, if the build is older than the sources. */
export default function setup(project: TestProject): () => Promise<void> {
  const build = join(ROOT, 'deploy', 'build', 'build.mjs');
  const { status } = spawnSync(process.execPath, [build, '--if-needed'], { stdio: 'inherit' });
  if (status !== 0) throw new Error('The service does not build.');
  const schemas = `chat_test_${randomBytes(4).toString('hex')}_`;
  process.env[SCHEMAS_OF_RUN] = schemas;
  // Without PostgreSQL there is nothing to remove.
  const dropSchemas = (): Promise<void> => dropSchemasOfRun(schemas).catch(() => undefined);
  process.once('SIGTERM', () => {
    console.error(['\nEnded from outside while these files ran:', ...runningFiles(project), ''].join('\n'));
    void dropSchemas().finally(() => process.exit(143));
  });
  return dropSchemas;
}

/** A test that blocks its process reports nothing: not even that it takes too long. */
function runningFiles({ vitest }: TestProject): string[] {
  const running = vitest.state.getTestModules().filter((module) => module.state() === 'pending');
  return running.map(({ moduleId }) => relative(join(ROOT, 'test'), moduleId));
}
