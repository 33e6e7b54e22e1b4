import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { ROOT } from './folders.js';

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

describe('the built service', () => {
  it('imports no package that an installation for production lacks', () => {
    const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;
    const installed = { ...manifest.dependencies, ...manifest.optionalDependencies };
    const missing = scripts().flatMap((script) =>
      packagesIn(readFileSync(script, 'utf8'))
        .filter((name) => !Object.hasOwn(installed, name))
        .map((name) => `${script.slice(ROOT.length + 1)}: ${name}`),
    );

    expect(missing).toEqual([]);
  });
});

function scripts(): string[] {
  return readdirSync(join(ROOT, 'dist'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.js'))
    .map((name) => join(ROOT, 'dist', name));
}

/** The packages that a compiled module imports, at its start or later; not its own folder's files, nor Node's modules. */
function packagesIn(script: string): string[] {
  return ts
    .preProcessFile(script, true, true)
    .importedFiles.map(({ fileName }) => fileName)
    .filter((name) => !name.startsWith('.') && !isBuiltin(name))
    .map((name) => name.split('/', name.startsWith('@') ? 2 : 1).join('/'));
}
