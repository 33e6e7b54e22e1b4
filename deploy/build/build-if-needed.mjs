// Builds the service if a source file is newer than the build. So `npm start` works on a fresh clone, and starts at once
// after that.
import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const modifiedAt = (file) => statSync(join(root, file), { throwIfNoEntry: false })?.mtimeMs ?? 0;

const sources = ['src', 'deploy/build'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true }).map((file) => join(folder, file)),
);
const inputs = [...sources, 'package.json', 'tsconfig.json', 'tsconfig.build.json', 'nest-cli.json'];
const builtAt = modifiedAt('dist/main.js');

if (inputs.some((file) => modifiedAt(file) > builtAt)) {
  process.stderr.write('Building …\n');
  const nest = join(root, 'node_modules', '@nestjs', 'cli', 'bin', 'nest.js');
  const build = spawnSync(process.execPath, [nest, 'build'], { cwd: root, encoding: 'utf8' });
  if (build.status !== 0) {
    process.stderr.write(`${build.stdout}${build.stderr}`);
    process.exit(1);
  }
  await import('./finish-build.mjs');
}
