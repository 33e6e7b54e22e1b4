import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../../platform/config/config.js';
import { loadConfig } from '../../platform/config/load-config.js';
import type { ScriptedProvider } from '../provider/scripted-provider.js';

/**
 * The model of {@link configFor}.
 *
 * @since 1.0
 */
export const TEST_MODEL = 'acme/fast';

/**
 * Returns the content of a CONFIG_FILE with the model {@link TEST_MODEL}, which these providers serve in this order, and one tier
 * `free` without limits. Spread the object to change members.
 *
 * @since 1.0
 */
export function configFor(...providers: readonly ScriptedProvider[]) {
  const named = providers.map((provider, index) => ({ provider, name: `scripted-${index + 1}` }));
  const upstreams = named.map(({ provider, name }): [string, object] => [
    name,
    { protocol: provider.dialect.protocol, base_url: `${provider.origin}/v1`, api_key: `secret-of-${name}` },
  ]);
  return {
    upstreams: Object.fromEntries(upstreams) as Record<string, object>,
    models: [
      {
        id: TEST_MODEL,
        name: 'Fast',
        provider: 'Acme',
        context_length: 8192,
        routes: named.map(({ name }) => ({ upstream: name, model: `model-of-${name}` })),
      },
    ] as readonly object[],
    tiers: { free: {} } as Record<string, object>,
    default_tier: 'free',
  };
}

/**
 * Loads the configuration of a test: a database in memory and a free port, unless the variables say otherwise.
 *
 * @param file the content of CONFIG_FILE, as text or as an object, unless the variables name a file. By default the built-in
 *   catalog.
 * @throws {ConfigError} as at the start of the service.
 */
export function testConfig(
  file: string | object | undefined,
  variables: Readonly<Record<string, string>> = {},
): Config {
  const environment = { DATABASE_URL: 'sqlite::memory:', PORT: '0', ...variables };
  if (file === undefined) return loadConfig(environment);
  const folder = mkdtempSync(join(tmpdir(), 'chat-config-'));
  const path = join(folder, 'config.yaml');
  try {
    // Every JSON document is also YAML.
    writeFileSync(path, typeof file === 'string' ? file : JSON.stringify(file));
    return loadConfig({ CONFIG_FILE: path, ...environment });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
