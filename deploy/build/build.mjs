// Builds the service into dist. With --if-needed, only if a source file is newer than the build: so `npm start` works on a fresh
// clone, and starts at once after that. The compiler only emits here: `npm run types` checks the types.
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const dist = join(root, 'dist');
/** The second one, and the pages, are parts of plugins, which a checkout may have taken out. */
const PROGRAMS = ['main', 'admin'].filter((name) => existsSync(join(root, 'src', `${name}.ts`)));
const PAGES = join('plugins', 'dashboard');
const hasPages = existsSync(join(root, 'src', PAGES));

if (!process.argv.includes('--if-needed') || isOutdated()) await build();

function isOutdated() {
  const modifiedAt = (file) => statSync(join(root, file), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const filesIn = (folder) => readdirSync(join(root, folder), { recursive: true }).map((file) => join(folder, file));
  // The reports in docs/api are written from the build.
  const documents = filesIn('docs').filter((file) => file.endsWith('.md') && !file.startsWith(join('docs', 'api')));
  const inputs = [
    ...filesIn('src'),
    ...filesIn('deploy/build'),
    ...documents,
    'package.json',
    'tsconfig.json',
    'tsconfig.build.json',
    'nest-cli.json',
  ];
  const builtAt = modifiedAt('dist/main.js');
  return inputs.some((file) => modifiedAt(file) > builtAt);
}

async function build() {
  process.stderr.write('Building …\n');
  rmSync(dist, { recursive: true, force: true });
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const { status } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  });
  if (status !== 0) process.exit(1);
  copyAssets();
  // Loaded here, as a build that is not needed costs no time then.
  const { bundlePageLibraries } = await import('./page-libraries.mjs');
  const { renderDocuments } = await import('./documents.mjs');
  const { bundle } = await import('./bundle.mjs');
  const bundled = hasPages ? await bundlePageLibraries(join(dist, PAGES, 'static')) : [];
  await bundle(dist, PROGRAMS, bundled);
  if (hasPages) renderDocuments(join(root, 'docs'), join(dist, PAGES, 'documents', 'pages'));
  for (const program of PROGRAMS) chmodSync(join(dist, `${program}.js`), 0o755);
  shortenClient();
}

/** Copies the files that nest-cli.json names as assets. */
function copyAssets() {
  const { sourceRoot, compilerOptions } = JSON.parse(readFileSync(join(root, 'nest-cli.json'), 'utf8'));
  const source = join(root, sourceRoot);
  for (const asset of compilerOptions.assets) {
    if (existsSync(join(source, asset))) cpSync(join(source, asset), join(dist, asset), { recursive: true });
  }
}

/** Browsers load the client as it is built: without comments, and with tabs as indentation. The declaration files keep the comments. */
function shortenClient() {
  const files = ['client.js', ...readdirSync(join(dist, 'client')).map((name) => join('client', name))];
  for (const file of files.filter((name) => name.endsWith('.js'))) {
    const path = join(dist, file);
    const code = readFileSync(path, 'utf8')
      .replaceAll(/^ *\/\*\*.*?\*\/\n/gms, '')
      .replaceAll(/^ *\/\/.*\n?/gm, '')
      .replaceAll(/^(?: {4})+/gm, (spaces) => '\t'.repeat(spaces.length / 4));
    writeFileSync(path, code);
    rmSync(`${path}.map`, { force: true });
  }
}
