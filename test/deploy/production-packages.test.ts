import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { ROOT } from './folders.js';

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional: boolean }>>;
}

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;
const { dependencies, peerDependencies, peerDependenciesMeta } = manifest;
const peers = Object.keys(peerDependencies);
const optionalPeers = peers.filter((name) => peerDependenciesMeta[name]?.optional);
const requiredPeers = peers.filter((name) => !optionalPeers.includes(name));
const installed = [...Object.keys(dependencies), ...requiredPeers];

describe('the built service', () => {
  it('imports no package that an installation for production lacks', () => {
    expect(
      missing(
        (script) => !/^dist\/(?:testing|bundle|plugins\/tracing|upstreams\/credentials)\//.test(script),
        installed,
      ),
    ).toEqual([]);
  });

  it('has a test kit and traces that import optional peers only, in addition', () => {
    expect(
      missing(
        (script) => /^dist\/(?:testing|plugins\/tracing|upstreams\/credentials)\//.test(script),
        [...installed, ...optionalPeers],
      ),
    ).toEqual([]);
  });
});

/** The packages, apart from these, that some of the scripts import. */
function missing(isMeant: (script: string) => boolean, known: readonly string[]): string[] {
  return readdirSync(join(ROOT, 'dist'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.js'))
    .map((name) => `dist/${name}`)
    .filter(isMeant)
    .flatMap((script) =>
      packagesIn(readFileSync(join(ROOT, script), 'utf8'))
        .filter((name) => !known.includes(name))
        .map((name) => `${script}: ${name}`),
    );
}

/** The packages that a compiled module imports, at its start or later; not its own folder's files, nor Node's modules. */
function packagesIn(script: string): string[] {
  return ts
    .preProcessFile(script, true, true)
    .importedFiles.map(({ fileName }) => fileName)
    .filter((name) => !name.startsWith('.') && !isBuiltin(name))
    .map((name) => name.split('/', name.startsWith('@') ? 2 : 1).join('/'));
}
