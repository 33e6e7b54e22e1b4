import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { documentAt, ROOT } from './documents.js';

const MAX_EXPORTS = 90;
const DIST = join(ROOT, 'dist');

interface PublicName {
  readonly name: string;
  /** Whether this package declares the name. The others belong to Express, Passport and Preact. */
  readonly isOwn: boolean;
  readonly summary: string;
  readonly tags: readonly string[];
}

const ENTRIES = ['index', 'client', 'testing'];
const NAMES_BY_ENTRY = exportsOf(ENTRIES);
const NAMES = NAMES_BY_ENTRY.get('index') ?? [];

function exportsOf(entries: readonly string[]): ReadonlyMap<string, readonly PublicName[]> {
  const { NodeNext } = ts.ModuleKind;
  const pathOf = (entry: string) => join(DIST, `${entry}.d.ts`);
  const options = { module: NodeNext, target: ts.ScriptTarget.ES2023, skipLibCheck: true };
  const program = ts.createProgram(entries.map(pathOf), options);
  return new Map(entries.map((entry) => [entry, exportsOfFile(program, pathOf(entry))]));
}

function exportsOfFile(program: ts.Program, path: string): readonly PublicName[] {
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(path);
  const module = source && checker.getSymbolAtLocation(source);
  if (module === undefined) throw new Error('The package is not built.');
  return checker.getExportsOfModule(module).map((symbol) => {
    const declared = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    return {
      name: symbol.name,
      isOwn:
        declared.declarations?.some((declaration) => declaration.getSourceFile().fileName.startsWith(DIST)) === true,
      summary: ts.displayPartsToString(declared.getDocumentationComment(checker)),
      tags: declared.getJsDocTags(checker).map(({ name }) => name),
    };
  });
}

describe('the public API of the package', () => {
  it(`has at most ${MAX_EXPORTS} names`, () => {
    expect(NAMES.length).toBeGreaterThan(50);
    expect(NAMES.length).toBeLessThanOrEqual(MAX_EXPORTS);
  });

  it.each(ENTRIES)('has a docstring for each name of the entry %s, with the version since which it exists', (entry) => {
    const undocumented = NAMES_BY_ENTRY.get(entry)?.filter(
      ({ isOwn, summary, tags }) => isOwn && (summary === '' || !tags.includes('since')),
    );
    expect(undocumented?.map(({ name }) => name)).toEqual([]);
  });

  it('marks as experimental the names that docs/versioning.md lists as experimental', () => {
    const names = new Set(NAMES.map(({ name }) => name));
    const rows = documentAt('docs/versioning.md').text.match(/^\|.*\| experimental +\|$/gm) ?? [];
    const listed = rows.flatMap((row) => [...row.matchAll(/`(\w+)`/g)].map(([, name = '']) => name));
    const marked = NAMES.filter(({ tags }) => tags.includes('experimental')).map(({ name }) => name);
    expect(marked.sort()).toEqual(listed.filter((name) => names.has(name)).sort());
  });
});
