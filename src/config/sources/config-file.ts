import { readFileSync } from 'node:fs';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { DEFAULT_MAX_EVENT_BYTES } from '../config.js';
import { problemsOf } from './problems.js';

const count = z.int().min(1);
const milliseconds = z.int().min(1).max(86_400_000);
/**
 * The allowed range of an event limit. A smaller limit is too small for ordinary events. The parser of a larger event would
 * block the event loop.
 */
const eventBytes = z
  .int()
  .min(4_096)
  .max(16 * 1024 * 1024);
const text = z.string().min(1);
const name = z.string().regex(/^[\w.-]+$/, 'must be a name of letters, digits, dots, hyphens and underscores');

const Timeouts = z.strictObject({
  connect_ms: milliseconds.default(10_000).describe('For a connection to the provider.'),
  first_token_ms: milliseconds.default(120_000).describe('From the sent request to the first sign of an answer.'),
  idle_ms: milliseconds.default(60_000).describe('Between two signs of an answer.'),
});

const Upstream = z.strictObject({
  protocol: text.describe('`openai`, `anthropic`, `builtin`, or a protocol of your own.'),
  base_url: text.optional().meta({
    description: 'The address of the provider, `http://…` or `https://…`.',
    unset: 'for protocols that answer in this process',
  }),
  api_key: text.optional().meta({ description: 'The key of the provider, as its protocol sends it.', unset: 'no key' }),
  headers: z
    .record(z.string().regex(/^[\w-]+$/, 'must be the name of a header'), z.string())
    .default({})
    .describe('Sent with every request, over the headers of the protocol.'),
  timeouts: Timeouts.prefault({}).describe('How long to wait for the provider, in milliseconds.'),
  options: z.record(z.string(), z.unknown()).optional().meta({
    description: 'The settings of the protocol. The protocol checks them at start-up.',
    accepts: 'an object, as the protocol documents it',
    unset: 'the defaults of the protocol',
  }),
  max_tokens_field: z
    .enum(['max_tokens', 'max_completion_tokens'])
    .default('max_tokens')
    .describe('The name of the token limit in a request, because newer models of OpenAI refuse `max_tokens`.'),
  include_usage: z
    .boolean()
    .default(true)
    .describe('Whether to ask for token counts with `stream_options`, which some servers refuse.'),
  max_event_bytes: eventBytes
    .default(DEFAULT_MAX_EVENT_BYTES)
    .describe('Most bytes of one event, and of one line, of the stream. A provider that sends more has failed.'),
});

const Route = z.strictObject({
  upstream: text.describe('The name of one of the upstreams.'),
  model: text.describe("The provider's own name of the model."),
  temperature: z.boolean().default(true).describe('Whether to send a temperature, which some reasoning models refuse.'),
  priority: z.int().min(1).max(1_000).optional().meta({
    description: 'Routes with the lowest number are tried first.',
    unset: 'the position of the route in the list, from 1',
  }),
  weight: z
    .number()
    .min(0.001)
    .max(1_000)
    .default(1)
    .describe('The share of the requests among the routes of the same priority.'),
});

const price = z.number().min(0).max(1_000_000);

const Price = z.strictObject({
  input_per_million: price.describe('Of a million tokens of the prompt.'),
  output_per_million: price.describe('Of a million tokens of the answer.'),
});

const Model = z.strictObject({
  id: z
    .string()
    .regex(/^[^/\s]{1,100}\/\S{1,400}$/, 'must have the form <vendor>/<model_name>')
    .meta({
      description: 'How clients name the model. Each id stands once.',
      accepts: '`<vendor>/<model_name>`',
    }),
  name: text.describe('How `GET /chat/models` and the pages call the model.'),
  provider: text.describe('Who makes the model, as `GET /chat/models` and the pages tell.'),
  context_length: count.describe('How many tokens the prompt and the answer have together.'),
  max_output_tokens: count.optional().meta({
    description: 'Most tokens of an answer. A request for more is refused.',
    unset: 'no limit of the model',
  }),
  price: Price.optional().meta({ description: 'What tokens cost, in `currency`.', unset: 'no cost is recorded' }),
  sticky: z
    .boolean()
    .default(false)
    .describe(
      'Whether the requests of one account go to the same route while the route is healthy, so that the prompt cache of the provider is used.',
    ),
  routes: z
    .array(Route)
    .min(1, 'must name at least one route')
    .describe(
      'Tried by priority, and within a priority by weight, until a route gives the first text. A route without a configured upstream is left out.',
    ),
});

const Tier = z.strictObject({
  requests_per_minute: count
    .optional()
    .meta({ description: 'Most requests in a minute, which begins with its first request.', unset: 'no limit' }),
  concurrent_streams: count.optional().meta({ description: 'Most streams at once.', unset: 'no limit' }),
  max_tokens: count.optional().meta({
    description:
      'Most tokens of an answer. A request for more is refused, and a request that does not say gets this limit.',
    unset: 'no limit',
  }),
  tokens_per_day: count
    .optional()
    .meta({ description: 'Most tokens of prompts and answers together, in a day in UTC.', unset: 'no limit' }),
});

/**
 * The schema of CONFIG_FILE. `docs/configuration.md` is generated from this schema and from the schema of the environment.
 */
export const ConfigFile = z
  .strictObject({
    upstreams: z.record(name, Upstream).describe('Connections to providers, by name.'),
    models: z
      .array(Model)
      .min(1, 'must name at least one model')
      .describe('In the order in which they are listed. A model without a configured upstream is not listed.'),
    tiers: z.record(name, Tier).describe('What accounts may use, by name.'),
    default_tier: text.describe('The tier of a new account, and of accounts whose tier is gone.'),
    currency: z
      .string()
      .regex(/^[A-Z]{3}$/, 'must be the three letters of a currency, such as USD')
      .default('USD')
      .meta({ description: 'Of all prices.', accepts: 'the three letters of a currency' }),
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

/**
 * Returns the content of the file, with `${…}` not yet replaced, or every problem found in the file.
 *
 * @param shownAs the name of the file in the problems.
 */
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
