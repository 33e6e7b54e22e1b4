import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load-config.js';

const ROOT = join(import.meta.dirname, '..', '..');
const EXAMPLE = join(import.meta.dirname, 'example-app');
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');

/** The code of the README that is marked as of the language. */
function blocksOf(language: string): string[] {
  return [...README.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(
    ([, code = '']) => code,
  );
}

describe('the README', () => {
  it('quotes the example as it is', () => {
    const files = readdirSync(EXAMPLE, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
    const sources = files.map((file) => readFileSync(join(EXAMPLE, file), 'utf8'));
    const quotes = blocksOf('ts');

    expect(quotes.length).toBeGreaterThan(3);
    expect(quotes.filter((quote) => !sources.some((source) => source.includes(quote)))).toEqual([]);
  });

  it('shows a CONFIG_FILE that the service takes', () => {
    const folder = mkdtempSync(join(tmpdir(), 'chat-readme-'));
    try {
      const path = join(folder, 'config.yaml');
      writeFileSync(path, blocksOf('yaml')[0] ?? '');
      const { upstreams, models } = loadConfig({ CONFIG_FILE: path, ACME_API_KEY: 'a', BACKUP_API_KEY: 'b' });

      expect(upstreams.get('acme')).toMatchObject({
        baseUrl: new URL('https://api.example.com/v1'),
        headers: { 'X-Region': 'eu' },
        maxTokensField: 'max_completion_tokens',
        includeUsage: false,
      });
      expect(models[0]?.routes.map(({ temperature }) => temperature)).toEqual([true, false]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('links to files that are there', () => {
    const links = [...README.matchAll(/\]\((?!https?:|#)([^)]+)\)/g)].map(([, link = '']) => link);
    expect(links.length).toBeGreaterThan(3);
    expect(links.filter((link) => !existsSync(join(ROOT, link)))).toEqual([]);
  });

  it('names every variable of the built-in catalog', () => {
    const catalog = readFileSync(join(ROOT, 'src', 'config', 'catalog.yaml'), 'utf8').replaceAll(/^\s*#.*$/gm, '');
    const names = [...catalog.matchAll(/\$\{([A-Z_]+)/g)].map(([, name = '']) => name);
    expect(names.length).toBeGreaterThan(15);
    expect(names.filter((name) => !README.includes(`\`${name}\``))).toEqual([]);
  });
});
