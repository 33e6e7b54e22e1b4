import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Config } from '../../../../src/platform/config/config.js';
import { ConfigError } from '../../../../src/platform/config/config-error.js';
import { loadConfig } from '../../../../src/platform/config/load-config.js';

describe('the configuration', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'chat-config-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  function load(yaml: string, variables: Readonly<Record<string, string>> = {}): Config {
    const path = join(folder, 'config.yaml');
    writeFileSync(path, yaml);
    return loadConfig({ ...variables, CONFIG_FILE: path });
  }

  function problemsOf(run: () => unknown): readonly string[] {
    try {
      run();
    } catch (error) {
      if (error instanceof ConfigError) return error.problems;
      throw error;
    }
    return [];
  }

  const FILE = `
upstreams:
  acme: { protocol: openai, base_url: 'https://\${HOST_OF_ACME}', api_key: '\${KEY_OF_ACME}' }
  builtin: { protocol: builtin }
models:
  - { id: acme/a, name: A, provider: Acme, context_length: 1, routes: [{ upstream: acme, model: a }] }
  - { id: acme/b, name: B, provider: Acme, context_length: 1, routes: [{ upstream: builtin, model: '\${MODEL_B:-b}' }] }
  - { id: acme/c, name: C, provider: Acme, context_length: 1, routes: [{ upstream: builtin, model: '\${MODEL_C}' }] }
tiers: { free: {} }
default_tier: free
`;

  it('names the unset variables, and the models that are left out because of them', () => {
    expect(load(FILE).leftOut).toEqual({
      variables: ['HOST_OF_ACME', 'KEY_OF_ACME', 'MODEL_C'],
      models: ['acme/a', 'acme/c'],
    });
  });

  it('reads an empty variable as unset: the default applies, or nothing is configured', () => {
    const empty = { HOST_OF_ACME: '', KEY_OF_ACME: '', MODEL_B: '', MODEL_C: '' };
    const config = load(FILE, empty);
    expect(config.leftOut).toEqual(load(FILE).leftOut);
    expect(config.models.map(({ routes: [route] }) => route.model)).toEqual(['b']);
  });

  it('names nothing when all variables are set', () => {
    const config = load(FILE, { HOST_OF_ACME: 'example.com', KEY_OF_ACME: 'k', MODEL_C: 'c' });
    expect(config.leftOut).toEqual({ variables: [], models: [] });
    expect(config.models).toHaveLength(3);
  });

  it.each(['{ free: { max_tokens: ${MOST} } }', '[ ${MOST}, 1 ]'])(
    'says in one line that a variable in %s needs quotes',
    (tiers) => {
      const problems = problemsOf(() => load(`upstreams: {}\ntiers: ${tiers}\n`));
      expect(problems).toHaveLength(1);
      expect(problems[0]).toContain("CONFIG_FILE: line 2: ${MOST} needs quotes inside { } or [ ], such as '${MOST}'");
    },
  );

  it('says nothing of the lines that such a variable spoils', () => {
    const problems = problemsOf(() => load('upstreams:\n  a: { base_url: ${URL}, api_key: x }\nmodels: []\n'));
    expect(problems).toEqual(["CONFIG_FILE: line 2: ${URL} needs quotes inside { } or [ ], such as '${URL}'"]);
  });

  it('says in one line that an alias has no anchor', () => {
    const problems = problemsOf(() => load('upstreams: *known\n'));
    expect(problems).toEqual(['CONFIG_FILE: the alias *known has no anchor &known before it']);
  });

  it('refuses to expand aliases without end', () => {
    const levels = Array.from(
      { length: 9 },
      (_, level) => `l${level + 1}: &l${level + 1} [${Array(9).fill(`*l${level}`).join()}]`,
    );
    const problems = problemsOf(() => load(['l0: &l0 [x]', ...levels].join('\n')));
    expect(problems).toEqual(['CONFIG_FILE: the file uses too many aliases (*name)']);
  });

  it.each([
    [{ PORT: '8080', METRICS_PORT: '8080' }, ['METRICS_PORT: must differ from PORT']],
    [{ PORT: '0', METRICS_PORT: '0' }, []],
    [{ PORT: '8080', METRICS_PORT: '8081' }, []],
    [{ NODE_ENV: 'staging' }, ['NODE_ENV: must be one of production, development, test']],
  ])('finds the problems of %j', (variables, problems) => {
    const found = problemsOf(() => loadConfig(variables));
    expect(found).toEqual(problems);
  });
});
