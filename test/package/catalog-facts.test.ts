import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const ROOT = join(import.meta.dirname, '../..');
const CATALOG = join(ROOT, 'src/platform/config/catalog.yaml');

interface Entry {
  readonly id?: string;
  readonly protocol?: string;
  readonly thinking?: string;
  readonly facts?: readonly { readonly of: readonly string[]; readonly source: string; readonly checked: string }[];
  readonly routes?: readonly { readonly upstream: string }[];
}

function listOf(...args: string[]): string[] {
  const options = { cwd: ROOT, encoding: 'utf8' } as const;
  return execFileSync(process.execPath, ['docs/list-old-facts.mjs', ...args], options)
    .trim()
    .split('\n');
}

describe('the facts of the built-in catalog', () => {
  const { upstreams, models } = parse(readFileSync(CATALOG, 'utf8')) as {
    upstreams: Record<string, Entry>;
    models: readonly Entry[];
  };

  it('name a source and a day for each model of a provider', () => {
    const own = ['azure/deployment', 'ollama/model', 'llama-cpp/model', 'builtin/eliza'];
    const without = models.filter(({ id = '', facts = [] }) => facts.length === 0 && !own.includes(id));
    expect(without.map(({ id }) => id)).toEqual([]);
  });

  it('say that OpenAI is asked over its Responses API, and that new models of Anthropic decide how much they think', () => {
    expect(upstreams['openai']?.protocol).toBe('openai-responses');
    const claude = models.filter(({ id = '' }) => /^anthropic\/.*-5\.\d$/.test(id));
    expect(claude.map(({ thinking }) => thinking)).toEqual(claude.map(() => 'adaptive'));
    expect(claude.length).toBeGreaterThan(2);
  });

  it('are listed when nobody has checked them for 120 days', () => {
    const folder = mkdtempSync(join(tmpdir(), 'chat-facts-'));
    const file = join(folder, 'catalog.yaml');
    const entry = (source: string, checked: string) => ({ of: ['limits'], source, checked });
    try {
      const acme = { id: 'acme/fast', facts: [entry('https://old.example', '2026-01-01'), entry('new', '2026-05-01')] };
      writeFileSync(
        file,
        JSON.stringify({ upstreams: { acme: { facts: [entry('up', '2025-12-31')] } }, models: [acme] }),
      );
      expect(listOf('--file', file, '--on', '2026-05-02')).toEqual([
        'acme: limits: checked 2025-12-31, 122 days ago: up',
        'acme/fast: limits: checked 2026-01-01, 121 days ago: https://old.example',
      ]);
      expect(listOf('--file', file, '--on', '2026-04-01')).toEqual(['No fact is older than 120 days.']);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
