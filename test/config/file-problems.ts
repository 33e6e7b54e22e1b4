import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '../../src/platform/config/config-error.js';
import { loadConfig } from '../../src/platform/config/load-config.js';

type Branch = Record<string, unknown>;

function completePrice(): Branch {
  const prices = {
    input_per_million: 1,
    cached_input_per_million: 1,
    cache_write_input_per_million: 1,
    output_per_million: 1,
    reasoning_output_per_million: 1,
  };
  return { ...prices, long_input: { above_input_tokens: 1, ...prices } };
}

const facts = () => [{ of: ['price'], source: 'the price list', checked: '2026-11-26' }];

/** A CONFIG_FILE with every member. */
function completeFile(): Branch {
  return {
    upstreams: {
      acme: {
        protocol: 'openai',
        base_url: 'http://127.0.0.1:9',
        api_key: 'k',
        headers: {},
        timeouts: { connect_ms: 1, first_token_ms: 1, idle_ms: 1 },
        options: {},
        max_tokens_field: 'max_tokens',
        include_usage: true,
        max_event_bytes: 4096,
        facts: facts(),
        provider_messages: 'shown',
      },
    },
    models: [
      {
        id: 'acme/fast',
        name: 'Fast',
        provider: 'Acme',
        context_length: 1,
        max_output_tokens: 1,
        aliases: ['fast'],
        capabilities: ['tools'],
        thinking: 'levels',
        facts: facts(),
        price: completePrice(),
        sticky: true,
        routes: [
          {
            upstream: 'acme',
            model: 'm',
            unsupported_options: [],
            temperature: true,
            priority: 1,
            weight: 1,
            price: completePrice(),
          },
        ],
      },
    ],
    tiers: {
      free: {
        ...{ requests_per_minute: 1, concurrent_streams: 1, max_tokens: 1, tokens_per_minute: 1, tokens_per_day: 1 },
        budget: { amount: 1, per: 'day' },
      },
    },
    default_tier: 'free',
    currency: 'USD',
    webhooks: {
      portal: {
        url: 'https://portal.example.com',
        secret: `whsec_${'A'.repeat(32)}`,
        events: ['key.leaked'],
        allowed_networks: [],
      },
    },
  };
}

/** Returns the place of a member in {@link completeFile}, such as `models.0.id` for `models[].id`. */
export function placeOf(member: string): string {
  return member
    .replace('upstreams.<name>', 'upstreams.acme')
    .replace('tiers.<name>', 'tiers.free')
    .replace('webhooks.<name>', 'webhooks.portal')
    .replaceAll('[]', '.0');
}

/** Returns what the start says of a file that is complete but for one member. `undefined` leaves it out. */
export function problemsOfFile(member: string, value: unknown): readonly string[] {
  const file = completeFile();
  const steps = placeOf(member).split('.');
  const last = steps.pop() ?? '';
  // The complete upstream has an API key, and so no credentials.
  const parent = steps.reduce<Branch>((branch, step) => (branch[step] ??= {}) as Branch, file);
  parent[last] = value;
  const folder = mkdtempSync(join(tmpdir(), 'chat-config-'));
  const path = join(folder, 'config.yaml');
  try {
    writeFileSync(path, JSON.stringify(file));
    loadConfig({ CONFIG_FILE: path });
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
