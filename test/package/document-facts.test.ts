import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ERRORS, STREAM_ONLY_CODES, type BuiltInErrorCode } from '../../src/platform/common/service-error.js';
import { SHED_REASONS } from '../../src/platform/common/shed-load.js';
import { loadConfig } from '../../src/platform/config/load-config.js';
import { accountKeys } from '../../src/throttling/redis/account-scripts.js';
import { GeminiProtocol } from '../../src/upstreams/protocols/gemini/gemini.js';
import { OllamaProtocol } from '../../src/upstreams/protocols/ollama/ollama.js';
import { STREAM_OUTCOMES } from '../../src/usage/record/usage-record.js';
import { codeBlocks, documentAt, inCode, ROOT, tableRows } from './documents.js';

const SRC = join(ROOT, 'src');
const sources = readdirSync(SRC, { recursive: true, encoding: 'utf8' });

/** The folders of a folder. Vitest keeps its cache in `test/node_modules`. */
function foldersOf(path: string): string[] {
  return readdirSync(join(ROOT, path), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== 'node_modules')
    .map(({ name }) => name);
}

/** The value of a constant of `src/platform/database` that is not exported. */
function constantOf(name: string): number {
  const values = sources
    .filter((path) => path.startsWith('platform/database/') && path.endsWith('.ts'))
    .flatMap((path) => [...readFileSync(join(SRC, path), 'utf8').matchAll(/^(?:export )?const (\w+) = (\d+);$/gm)])
    .filter(([, constant]) => constant === name)
    .map(([, , value]) => Number(value));
  expect(values, name).toHaveLength(1);
  return values[0] ?? 0;
}

describe('docs/http-api.md', () => {
  const document = documentAt('docs/http-api.md');

  it('has every error code, with its status', () => {
    const documented = tableRows(document, '## Errors').flatMap(([status, codes = '']) =>
      inCode(codes).map((code) => [code, Number(status)]),
    );
    const expected = Object.entries(ERRORS)
      .filter(([code]) => !STREAM_ONLY_CODES.includes(code as BuiltInErrorCode))
      .map(([code, { status }]) => [code, status]);
    expect(documented.sort()).toEqual(expected.sort());
    expect(inCode(document.text)).toEqual(expect.arrayContaining([...STREAM_ONLY_CODES]));
  });

  it('has every outcome of a stream', () => {
    const named = inCode(document.text);
    expect(STREAM_OUTCOMES.filter((outcome) => !named.includes(outcome))).toEqual([]);
  });
});

describe('docs/operations.md', () => {
  const document = documentAt('docs/operations.md');

  it('has every reason to refuse work', () => {
    const reasons = tableRows(document, '## Overload').flatMap(([reason = '']) => inCode(reason));
    expect(new Set(reasons)).toEqual(new Set<string>(SHED_REASONS));
  });

  it('has the number of connections to PostgreSQL', () => {
    const shared = constantOf('POOL_SIZE');
    const forCredentials = constantOf('CREDENTIAL_POOL_SIZE');
    const text = document.text.replaceAll(/\s+/g, ' ');
    expect(text).toContain(
      `${shared + forCredentials + 1} connections to PostgreSQL: ${shared} for reports, pages, accounts and usage records, ` +
        `${forCredentials} for lookups and watches of credentials, and 1 for the probe`,
    );
    const ofAll = tableRows(document, '## Scale sheet').flatMap(([replicas = '', , , connections = '']) =>
      connections.startsWith('up to ') ? [[replicas, connections]] : [],
    );
    const upTo = (replicas: number) => `up to ${((shared + forCredentials + 1) * replicas).toLocaleString('en')}`;
    expect(ofAll).toEqual([10, 100, 1_000].map((replicas) => [replicas.toLocaleString('en'), upTo(replicas)]));
  });
});

describe('docs/providers-and-models.md', () => {
  it('shows a CONFIG_FILE that the service accepts', () => {
    const folder = mkdtempSync(join(tmpdir(), 'chat-documents-'));
    try {
      const path = join(folder, 'config.yaml');
      writeFileSync(path, codeBlocks(documentAt('docs/providers-and-models.md'), 'yaml')[0] ?? '');
      const { upstreams, models } = loadConfig({ CONFIG_FILE: path, ACME_API_KEY: 'a', BACKUP_API_KEY: 'b' });

      expect(upstreams.get('acme')).toMatchObject({
        baseUrl: new URL('https://api.example.com/v1'),
        headers: { 'X-Region': 'eu' },
        maxTokensField: 'max_completion_tokens',
        includeUsage: false,
      });
      expect(models[0]?.routes.map(({ unsupportedOptions }) => unsupportedOptions)).toEqual([
        [],
        ['temperature', 'seed'],
      ]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('lists the options of the native protocols, and shows valid ones', () => {
    const document = documentAt('docs/providers-and-models.md');
    const protocols = [new GeminiProtocol(), new OllamaProtocol()];
    const listed = tableRows(document, '## The native interfaces of Gemini and Ollama').map((cells) =>
      cells.slice(0, 2).flatMap(inCode),
    );
    expect(listed).toEqual(
      protocols.flatMap(({ name, options }) => Object.keys(options.shape).map((option) => [name, option])),
    );

    const example = codeBlocks(document, 'yaml').find((block) => block.includes('protocol: gemini'));
    const { upstreams } = parse(example ?? '') as {
      upstreams: Record<string, { protocol: string; options: object }>;
    };
    for (const { name, options } of protocols) {
      const shown = Object.values(upstreams).find(({ protocol }) => protocol === name)?.options;
      expect(options.safeParse(shown).error, name).toBeUndefined();
    }
  });
});

describe('docs/configuration.md', () => {
  it('names every variable of the built-in catalog', () => {
    const catalog = readFileSync(join(SRC, 'platform', 'config', 'catalog.yaml'), 'utf8').replaceAll(/^\s*#.*$/gm, '');
    const names = [...catalog.matchAll(/\$\{([A-Z_]+)/g)].map(([, name = '']) => name);
    const documented = inCode(documentAt('docs/configuration.md').text);
    expect(names.length).toBeGreaterThan(15);
    expect(names.filter((name) => !documented.includes(name))).toEqual([]);
  });
});

describe('docs/architecture.md, docs/plugins.md and docs/stores.md', () => {
  const text = documentAt('docs/architecture.md').text + documentAt('docs/plugins.md').text;
  const stores = documentAt('docs/stores.md');

  it('names files of src', () => {
    const files = new Set(sources.map((path) => path.split('/').at(-1)));
    const named = [...text.matchAll(/(?<![\w.-])[\w-]+(?:\.[\w-]+)*\.tsx?\b/g)].map(([name]) => name);
    expect(named.length).toBeGreaterThan(60);
    expect(named.filter((name) => !files.has(name))).toEqual([]);
  });

  it('has every table of the database', () => {
    const migrations = sources.filter((path) => /migrations\/.*\.ts$/.test(path));
    const created = migrations.flatMap((path) =>
      [...readFileSync(join(SRC, path), 'utf8').matchAll(/\btable\(\s*'(\w+)'/g)].map(([, name]) => name),
    );
    const documented = tableRows(stores, '## Database').map(([name = '']) => inCode(name)[0]);
    expect(created.length).toBeGreaterThan(5);
    expect(documented.sort()).toEqual(created.sort());
  });

  it('has the Redis keys of an account', () => {
    const documented = tableRows(stores, '## Redis').flatMap(([name = '']) => inCode(name));
    expect(documented).toEqual(expect.arrayContaining(accountKeys('<account>')));
  });
});

describe('CONTRIBUTING.md', () => {
  it('has every folder of src and of test', () => {
    const layout = codeBlocks(documentAt('CONTRIBUTING.md'), 'text').join('');
    const [, src = '', test = ''] = /^src\/\n([\s\S]*)^test\/\n([\s\S]*)/m.exec(layout) ?? [];
    expect(foldersOf('src').filter((folder) => !src.includes(` ${folder}/`))).toEqual([]);
    expect(foldersOf('test').filter((folder) => !test.includes(` ${folder}/`))).toEqual([]);
  });
});
