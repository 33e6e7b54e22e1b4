import type { ScriptedProvider } from '../../src/testing/provider/scripted-provider.js';

/** The parts of CONFIG_FILE that a test sets. */
export interface Catalog {
  readonly upstreams: Readonly<Record<string, object>>;
  readonly models: readonly object[];
  readonly currency?: string | undefined;
  /** The member `plugins`. */
  readonly pluginConfigs?: Readonly<Record<string, object>> | undefined;
}

export const MODEL = 'acme/fast';
export const CONTEXT_LENGTH = 8192;

export const UPSTREAM_NAMES = ['acme', 'backup', 'spare'] as const;

export interface Timeouts {
  readonly connect_ms?: number;
  readonly first_token_ms?: number;
  readonly idle_ms?: number;
}

/** A catalog with one model, which has one route for each provider, in order. */
export function routesTo(
  providers: readonly (ScriptedProvider | string)[],
  timeouts: Timeouts = {},
  price?: object,
): Catalog {
  const named = providers.map((provider, index) => ({ provider, name: UPSTREAM_NAMES[index] ?? `provider-${index}` }));
  const upstreams = named.map(({ provider, name }): [string, object] => {
    const [origin, protocol] =
      typeof provider === 'string' ? [provider, 'openai'] : [provider.origin, provider.dialect.protocol];
    return [name, { protocol, base_url: `${origin}/v1`, api_key: `secret-of-${name}`, timeouts }];
  });
  return {
    upstreams: Object.fromEntries(upstreams),
    models: [
      {
        id: MODEL,
        name: 'Fast',
        provider: 'Acme',
        context_length: CONTEXT_LENGTH,
        price,
        routes: named.map(({ name }) => ({ upstream: name, model: `${name}-model` })),
      },
    ],
  };
}

/** The content of CONFIG_FILE for a catalog. The content is JSON, because every JSON document is also YAML. */
export function configFile(
  { upstreams, models, currency, pluginConfigs }: Catalog,
  tiers: Readonly<Record<string, object>> = { free: {} },
  webhooks?: Readonly<Record<string, object>>,
): string {
  return JSON.stringify({
    upstreams,
    models,
    currency,
    plugins: pluginConfigs,
    tiers,
    default_tier: Object.keys(tiers)[0],
    webhooks,
  });
}
