import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { documentAt, relativeLinks, ROOT } from './documents.js';

/** The paths of the files in the package. */
const PACKED = new Set(
  (
    JSON.parse(execFileSync('npm', ['pack', '--dry-run', '--json'], { cwd: ROOT, encoding: 'utf8' })) as {
      readonly files: readonly { readonly path: string }[];
    }[]
  ).flatMap(({ files }) => files.map(({ path }) => path)),
);
const DOCUMENTS = [...PACKED].filter((path) => path.endsWith('.md')).sort();

/** Whether the package contains the file, or files of the folder. */
function isPacked(path: string): boolean {
  const absolute = join(ROOT, path);
  if (!existsSync(absolute) || !statSync(absolute).isDirectory()) return PACKED.has(path);
  return [...PACKED].some((packed) => packed.startsWith(`${path}/`));
}

/** The sources of pictures, which are HTML. */
const pictures = (text: string): string[] => [...text.matchAll(/<img src="([^"]+)"/g)].map(([, source = '']) => source);

describe('the documents in the package', () => {
  it('are the README, and all documents of the repository', () => {
    expect(DOCUMENTS).toEqual(expect.arrayContaining(['README.md', 'CONTRIBUTING.md', 'docs/extending.md']));
  });

  it.each(DOCUMENTS)('link to files of the package only: %s', (path) => {
    const document = documentAt(path);
    const targets = [...relativeLinks(document), ...pictures(document.text)]
      .map((link) => link.split('#', 1)[0] ?? '')
      .filter((target) => target !== '' && !target.includes(':'));
    const missing = targets.filter((target) => !isPacked(posix.join(posix.dirname(path), target).replace(/\/$/, '')));
    expect(missing).toEqual([]);
  });
});
