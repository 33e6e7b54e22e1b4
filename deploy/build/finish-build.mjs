// What a build needs after the compiler. The programs are bundled and become executable. Browsers load the client as it is built,
// so its files are kept small: without comments, and with tabs as indentation. The declaration files keep the comments.
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from './bundle.mjs';
import { bundlePageLibraries } from './page-libraries.mjs';

const dist = fileURLToPath(new URL('../../dist', import.meta.url));
const files = ['client.js', ...readdirSync(join(dist, 'client')).map((name) => join('client', name))];

const PROGRAMS = ['main', 'admin'];
await bundle(dist, PROGRAMS, await bundlePageLibraries(join(dist, 'dashboard', 'static')));
for (const program of PROGRAMS) chmodSync(join(dist, `${program}.js`), 0o755);

for (const file of files.filter((name) => name.endsWith('.js'))) {
  const path = join(dist, file);
  const code = readFileSync(path, 'utf8')
    .replaceAll(/^ *\/\*\*.*?\*\/\n/gms, '')
    .replaceAll(/^ *\/\/.*\n?/gm, '')
    .replaceAll(/^(?: {4})+/gm, (spaces) => '\t'.repeat(spaces.length / 4));
  writeFileSync(path, code);
  rmSync(`${path}.map`, { force: true });
}
