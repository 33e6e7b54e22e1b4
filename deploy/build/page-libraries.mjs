// Puts the libraries of the pages into the build, so that an installation does not need their packages: the stylesheet, and the
// scripts that pages load only when they need them.
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const LIBRARIES = { highlight: 'highlight.js/lib/common', katex: 'katex' };

/**
 * @param {string} folder the folder of the files of the pages
 * @returns {Promise<string[]>} the paths of the modules in the bundled files
 */
export async function bundlePageLibraries(folder) {
  const stylesheet = fileURLToPath(import.meta.resolve('@picocss/pico'));
  copyFileSync(stylesheet, join(folder, 'pico.css'));
  const build = await rolldown({ input: LIBRARIES, platform: 'browser' });
  const dir = join(folder, 'vendor');
  const { output } = await build.write({ dir, format: 'esm', minify: true, entryFileNames: '[name].js' });
  return [stylesheet, ...output.flatMap(({ moduleIds = [] }) => moduleIds)];
}
