import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { anchors, codeBlocks, documentAt, DOCUMENTS, relativeLinks, ROOT, type Document } from './documents.js';

const MAX_README_BYTES = 8_000;
const README = documentAt('README.md');

const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};

/** The links of a document that lead nowhere. */
function brokenLinks(document: Document): string[] {
  return relativeLinks(document).filter((link) => {
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? document.path : relative(ROOT, join(ROOT, dirname(document.path), path));
    if (!existsSync(join(ROOT, target))) return true;
    return anchor !== undefined && !anchors(documentAt(target)).includes(anchor);
  });
}

/** The scripts and the files that the commands of a document run. */
function missingCommands({ text }: Document): string[] {
  const named = [...text.matchAll(/\bnpm run (?:--silent )?([a-z:]+)/g)].map(([, script = '']) => script);
  const short = [...text.matchAll(/\bnpm (start|test)\b/g)].map(([, script = '']) => script);
  const files = [...text.matchAll(/\b(?:node|bash) ((?:src|test|docs|\.ci)\/[\w./-]+)/g)].map(([, path = '']) => path);
  return [
    ...[...named, ...short].filter((script) => !(script in scripts)),
    ...files.filter((path) => !existsSync(join(ROOT, path))),
  ];
}

describe('README.md', () => {
  it('stays short', () => {
    expect(Buffer.byteLength(README.text)).toBeLessThanOrEqual(MAX_README_BYTES);
  });

  it('has the commands that people paste', () => {
    const commands = codeBlocks(README, 'console').join('');
    expect(commands).toContain('$ npm ci && npm start\n');
    expect(commands).toContain('$ npm ci && npm test\n');
  });

  it('names every other document', () => {
    const links = relativeLinks(README);
    const others = DOCUMENTS.filter(({ path }) => path !== README.path).map(({ path }) => path);
    const ofExtending = relativeLinks(documentAt('docs/extending.md')).map((path) => `docs/${path}`);
    expect(others.filter((path) => !links.includes(path) && !ofExtending.includes(path))).toEqual([]);
  });
});

describe.each(DOCUMENTS)('$path', (document) => {
  it('links to files and headings that exist', () => {
    expect(brokenLinks(document)).toEqual([]);
  });

  it('names commands that exist', () => {
    expect(missingCommands(document)).toEqual([]);
  });
});

describe('the documents', () => {
  it('have links, anchors and commands', () => {
    const links = DOCUMENTS.flatMap(relativeLinks);
    expect(links.length).toBeGreaterThan(40);
    expect(links.filter((link) => link.includes('#')).length).toBeGreaterThan(10);
    expect(missingCommands({ path: '', text: 'npm run nothing; npm run build; node test/nothing.mjs' })).toEqual([
      'nothing',
      'test/nothing.mjs',
    ]);
    expect(brokenLinks({ path: 'docs/a.md', text: '[a](b.md) [b](#c) [c](../README.md#start)' })).toEqual([
      'b.md',
      '#c',
    ]);
  });

  it('are all formatted by npm run format', () => {
    for (const script of ['format', 'format:write']) {
      for (const pattern of [
        'README.md',
        'CONTRIBUTING.md',
        '"docs/**/*.{md,mjs}"',
        '"deploy/**/*.{yaml,md,json,mjs}"',
      ]) {
        expect(scripts[script]?.split(' ')).toContain(pattern);
      }
    }
  });

  it('quote the examples as they are, each file as a whole', () => {
    const folder = join(ROOT, 'docs', 'extending');
    const quoted = readdirSync(folder).flatMap((page) => {
      const { text } = documentAt(`docs/extending/${page}`);
      return [...text.matchAll(/\]\(\.\.\/\.\.\/(examples\/src\/[\w.-]+)\)[^\n]*\n\n```ts\n([\s\S]*?)^```$/gm)];
    });

    for (const [, path = '', quote] of quoted) expect([path, quote]).toEqual([path, documentAt(path).text]);
    const plugins = readdirSync(join(ROOT, 'examples', 'src')).filter((file) => file.endsWith('.plugin.ts'));
    expect(quoted.map(([, path = '']) => path)).toEqual(
      expect.arrayContaining(plugins.map((file) => `examples/src/${file}`)),
    );
  });

  it('quote the tests as they are', () => {
    const tests = ['team.test.ts', 'example-protocols.test.ts'].map((file) =>
      readFileSync(join(import.meta.dirname, file), 'utf8'),
    );
    const quotes = codeBlocks(documentAt('docs/testing.md'), 'ts');

    expect(quotes).toContain(tests[0]);
    expect(quotes.filter((quote) => !tests.some((test) => test.includes(quote)))).toEqual([]);
  });
});
