import { readFileSync } from 'node:fs';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { problemsOf } from './problems.js';

const count = z.int().min(1);
const milliseconds = z.int().min(1).max(86_400_000);
const text = z.string().min(1);
const name = z.string().regex(/^[\w.-]+$/, 'must be a name of letters, digits, dots, hyphens and underscores');

const Timeouts = z.strictObject({
  connect_ms: milliseconds.default(10_000),
  first_token_ms: milliseconds.default(120_000),
  idle_ms: milliseconds.default(60_000),
});

const Upstream = z.strictObject({
  protocol: text,
  base_url: text.optional(),
  api_key: text.optional(),
  headers: z.record(z.string().regex(/^[\w-]+$/, 'must be the name of a header'), z.string()).default({}),
  timeouts: Timeouts.prefault({}),
  max_tokens_field: z.enum(['max_tokens', 'max_completion_tokens']).default('max_tokens'),
  include_usage: z.boolean().default(true),
});

const Route = z.strictObject({
  upstream: text,
  model: text,
  temperature: z.boolean().default(true),
});

const price = z.number().min(0).max(1_000_000);

const Price = z.strictObject({
  input_per_million: price,
  output_per_million: price,
});

const Model = z.strictObject({
  id: z.string().regex(/^[^/\s]+\/\S+$/, 'must have the form <vendor>/<model_name>'),
  name: text,
  provider: text,
  context_length: count,
  max_output_tokens: count.optional(),
  price: Price.optional(),
  routes: z.array(Route).min(1, 'must name at least one route'),
});

const Tier = z.strictObject({
  requests_per_minute: count.optional(),
  concurrent_streams: count.optional(),
  max_tokens: count.optional(),
  tokens_per_day: count.optional(),
});

const ConfigFile = z
  .strictObject({
    upstreams: z.record(name, Upstream),
    models: z.array(Model).min(1, 'must name at least one model'),
    tiers: z.record(name, Tier),
    default_tier: text,
    currency: z
      .string()
      .regex(/^[A-Z]{3}$/, 'must be the three letters of a currency, such as USD')
      .default('USD'),
  })
  .check(({ value, issues }) => {
    const refuse = (path: (string | number)[], message: string) => {
      issues.push({ code: 'custom', path, message, input: value });
    };
    if (!Object.hasOwn(value.tiers, value.default_tier)) refuse(['default_tier'], 'is not one of the tiers');
    const seen = new Set<string>();
    value.models.forEach((model, m) => {
      if (seen.has(model.id)) refuse(['models', m, 'id'], `"${model.id}" stands twice`);
      seen.add(model.id);
      model.routes.forEach((route, r) => {
        if (!Object.hasOwn(value.upstreams, route.upstream)) {
          refuse(['models', m, 'routes', r, 'upstream'], `"${route.upstream}" is not one of the upstreams`);
        }
      });
    });
  });

export type ConfigFile = z.infer<typeof ConfigFile>;
export type UpstreamEntry = ConfigFile['upstreams'][string];

/** The file as it stands, `${…}` not yet replaced, or every problem found in it. */
export function readConfigFile(path: string | URL, shownAs: string): { file?: ConfigFile; problems: string[] } {
  let source: string;
  try {
    source = readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason = code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${code ?? 'unknown error'})`;
    return { problems: [`${shownAs}: ${reason}`] };
  }
  const document = parseDocument(source, { prettyErrors: true });
  if (document.errors.length > 0) {
    return { problems: document.errors.map(({ message }) => `${shownAs}: ${message.split('\n')[0] ?? message}`) };
  }
  const result = ConfigFile.safeParse(document.toJS());
  return result.success ? { file: result.data, problems: [] } : { problems: problemsOf(result.error, [shownAs]) };
}
