import { z } from 'zod';
import { isPlainLine } from '../../common/text/cut-text.js';
import { CAPABILITIES, GENERATION_OPTIONS, THINKING_KINDS } from '../capabilities.js';
import { MAX_BUDGET } from '../limits/budget.js';
import { LIMITS, type LimitName } from '../limits/limit-table.js';
import { DEFAULT_MAX_EVENT_BYTES } from '../config.js';
import { WEBHOOK_EVENTS } from '../webhook-of.js';

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
const shownText = text.refine(isPlainLine, 'must be one line of text, without characters that change its direction');
const name = z.string().regex(/^[\w.-]+$/, 'must contain only letters, digits, dots, hyphens and underscores');

/** What a fact of the catalog is about. */
const FACTS = ['protocol', 'options', 'limits', 'capabilities', 'thinking', 'price'] as const;

const Facts = z
  .array(
    z.strictObject({
      of: z
        .array(z.enum(FACTS))
        .min(1)
        .meta({
          description: 'What has been looked up.',
          accepts: `a list of ${FACTS.map((fact) => `\`${fact}\``).join(', ')}`,
        }),
      source: text.describe('Where it has been looked up.'),
      checked: z.iso
        .date()
        .meta({ description: 'When it has been looked up.', accepts: 'a date, such as `2026-11-26`' }),
    }),
  )
  .default([])
  .meta({
    description:
      'Where the values of this entry come from. The service does not use it; `npm run catalog` lists old entries.',
    unset: 'nothing is known',
  });

const Timeouts = z.strictObject({
  connect_ms: milliseconds.default(10_000).describe('The time limit for a connection to the upstream.'),
  first_token_ms: milliseconds
    .default(120_000)
    .describe('The time limit from the sent request to the first data of the answer.'),
  idle_ms: milliseconds.default(60_000).describe('The time limit between two pieces of data of the answer.'),
});

const Upstream = z.strictObject({
  protocol: text.describe(
    '`openai`, `openai-responses`, `anthropic`, `gemini`, `bedrock`, `ollama`, `builtin`, or your own protocol.',
  ),
  base_url: text.optional().meta({
    description: 'The URL of the upstream, `http://…` or `https://…`.',
    unset: 'only for protocols that need no network',
  }),
  api_key: text
    .optional()
    .meta({ description: 'The API key of the upstream. The protocol decides how to send it.', unset: 'no key' }),
  credentials: z
    .looseObject({
      kind: text.describe('`aws`, `google`, `azure`, `command`, or a kind of a plugin.'),
    })
    .optional()
    .meta({
      description:
        'Where the service obtains credentials that expire, instead of an `api_key`. The kind checks the other members at start-up. See [Credentials that expire](providers-and-models.md#credentials-that-expire).',
      accepts: 'an object with `kind` and the members of the kind',
      unset: 'none',
    }),
  headers: z
    .record(z.string().regex(/^[\w-]+$/, 'must be a valid header name'), z.string())
    .default({})
    .describe('Headers of every request. They replace headers of the protocol with the same name.'),
  timeouts: Timeouts.prefault({}).describe('Time limits for the upstream, in milliseconds.'),
  options: z.record(z.string(), z.unknown()).optional().meta({
    description: 'The settings of the protocol. The protocol checks them at start-up.',
    accepts: 'an object, as the protocol documents it',
    unset: 'the defaults of the protocol',
  }),
  max_tokens_field: z
    .enum(['max_tokens', 'max_completion_tokens'])
    .default('max_tokens')
    .describe('The name of the token limit in requests to the upstream. Newer OpenAI models refuse `max_tokens`.'),
  include_usage: z
    .boolean()
    .default(true)
    .describe('Whether to request token counts with `stream_options`. Some servers refuse this member.'),
  facts: Facts,
  max_event_bytes: eventBytes
    .default(DEFAULT_MAX_EVENT_BYTES)
    .describe(
      'The maximum size of one event, and of one line, of the stream, in bytes. A larger event is a failure of the upstream.',
    ),
  provider_messages: z
    .enum(['shown', 'hidden'])
    .default('shown')
    .describe(
      'Whether callers get the message of the provider when it refuses a parameter or names a limit. The service removes keys, addresses and ids of the account from the message. `hidden`: callers get a fixed message.',
    ),
});

const price = z.number().min(0).max(1_000_000);

const TOKEN_PRICES = {
  input_per_million: price.describe('The price of one million input tokens.'),
  cached_input_per_million: price.optional().meta({
    description: 'The price of one million input tokens that the provider has read from its cache.',
    unset: 'the price of other tokens of the prompt',
  }),
  cache_write_input_per_million: price.optional().meta({
    description: 'The price of one million input tokens that the provider has written to its cache.',
    unset: 'the price of other tokens of the prompt',
  }),
  output_per_million: price.describe('The price of one million output tokens.'),
  reasoning_output_per_million: price.optional().meta({
    description: 'The price of one million output tokens of reasoning.',
    unset: '`output_per_million`',
  }),
};

const Price = z.strictObject({
  ...TOKEN_PRICES,
  long_input: z
    .strictObject({
      above_input_tokens: count.describe('The prices in `long_input` apply to a request with more input tokens.'),
      ...TOKEN_PRICES,
    })
    .optional()
    .meta({
      description: 'The prices of all tokens of a request with a long prompt.',
      unset: 'the prices do not depend on the prompt',
    }),
});

export type PriceEntry = z.infer<typeof Price>;

const Route = z.strictObject({
  upstream: text.describe('The name of an upstream.'),
  model: text.describe('The name of the model at the upstream.'),
  unsupported_options: z
    .array(z.enum(GENERATION_OPTIONS))
    .default([])
    .meta({
      description:
        'The generation options that the model refuses at this upstream. The temperature is then left out. A request with another of these options does not use the route.',
      accepts: `a list of ${GENERATION_OPTIONS.map((option) => `\`${option}\``).join(', ')}`,
      unset: 'empty',
    }),
  temperature: z.boolean().default(true).describe('`false`: the same as `temperature` in `unsupported_options`.'),
  priority: z.int().min(1).max(1_000).optional().meta({
    description: 'The service tries routes with the lowest number first.',
    unset: 'the position of the route in the list, from 1',
  }),
  weight: z
    .number()
    .min(0.001)
    .max(1_000)
    .default(1)
    .describe('The share of the requests among the routes of the same priority.'),
  price: Price.optional().meta({
    description: 'The price of tokens at this upstream, in `currency`.',
    unset: 'the price of the model',
  }),
});

export const Model = z.strictObject({
  id: z
    .string()
    .regex(/^[^/\s]{1,100}\/\S{1,400}$/, 'must have the form <vendor>/<model_name>')
    .refine(isPlainLine, 'must not contain characters that change the direction of text')
    .meta({
      description: 'The id of the model in requests. Each id must be unique.',
      accepts: '`<vendor>/<model_name>`',
    }),
  aliases: z
    .array(z.string().regex(/^[^\s*]{1,255}\*?$/, 'must be a name without spaces, with at most one * at its end'))
    .max(100)
    .default([])
    .meta({
      description:
        'More names of the model in requests, for clients that insist on their own names: exact names, or the beginning of names with `*` at the end. An exact name wins over a beginning, and a longer beginning over a shorter one.',
      accepts: 'a list of names, such as `[gpt-4o, claude-*]`',
      unset: 'none',
    }),
  name: shownText.describe('The display name in `GET /chat/models` and on the pages.'),
  provider: shownText.describe('The company that offers the model, as shown in `GET /chat/models` and on the pages.'),
  context_length: count.describe('The maximum number of input and output tokens together.'),
  max_output_tokens: count.optional().meta({
    description: 'The maximum number of output tokens. A request for more is refused.',
    unset: 'only `context_length` limits the answer',
  }),
  capabilities: z
    .array(z.enum(CAPABILITIES))
    .optional()
    .meta({
      description:
        'What the model can take besides texts. A request that needs anything else is refused before a provider is asked.',
      accepts: `a list of ${CAPABILITIES.map((capability) => `\`${capability}\``).join(', ')}`,
      unset: 'all that the protocols of its routes can map',
    }),
  thinking: z.enum(THINKING_KINDS).optional().meta({
    description:
      'How the model takes an effort of reasoning: `budget` as a number of tokens, `adaptive` as a hint for a model that decides itself and takes no sampling options, `levels` as a named level, `switch` only as on or off. See [Reasoning](providers-and-models.md#reasoning).',
    unset: 'as the protocol assumes',
  }),
  price: Price.optional().meta({
    description: 'The price of tokens, in `currency`.',
    unset: 'the service records no cost',
  }),
  sticky: z
    .boolean()
    .default(false)
    .describe(
      'Whether the requests of one account go to the same route while the route is healthy. The provider can then use its prompt cache.',
    ),
  facts: Facts,
  routes: z
    .array(Route)
    .min(1, 'must contain at least one route')
    .describe(
      'The service tries the routes by priority and weight until one returns text. It skips a route whose upstream is not configured.',
    ),
});

type LimitMember = (typeof LIMITS)[LimitName]['member'];

const limitMembers = Object.fromEntries(
  Object.values(LIMITS).map(({ member, description }) => [
    member,
    count.optional().meta({ description, unset: 'no limit' }),
  ]),
) as Record<LimitMember, z.ZodOptional<typeof count>>;

const Tier = z.strictObject({
  ...limitMembers,
  max_tokens: count.optional().meta({
    description:
      'The maximum number of output tokens per answer. A request for more is refused. This is also the default for a request without `max_tokens`.',
    unset: 'no limit',
  }),
  budget: z
    .strictObject({
      amount: z
        .number()
        .min(0.000001)
        .max(MAX_BUDGET)
        .describe('The most that an account may spend in one period, in units of the currency.'),
      currency: z.string().optional().meta({
        description: 'The currency of the amount. It must be `currency` of the file.',
        accepts: 'a currency code of three letters',
        unset: '`currency` of the file',
      }),
      per: z.enum(['month', 'day']).describe('The period: a calendar month or a calendar day in UTC.'),
    })
    .optional()
    .meta({ description: 'The budget of each account. Requests above it are refused.', unset: 'no limit' }),
  plugins: z.record(name, z.unknown()).optional().meta({
    description: 'What plugins add to the tier, by name of the plugin. The plugins check it.',
    accepts: 'an object for each plugin, as the plugin documents it',
    unset: 'the defaults of the plugins',
  }),
});

const Webhook = z.strictObject({
  url: text.meta({ description: 'The URL that gets the events.', accepts: 'a URL `https://…` or `http://…`' }),
  secret: text.meta({
    description: 'The key of the signatures. Use a variable of the environment.',
    accepts: '`whsec_` and 24 to 64 random bytes in Base64',
  }),
  events: z
    .array(z.enum(WEBHOOK_EVENTS))
    .min(1)
    .default([...WEBHOOK_EVENTS])
    .meta({
      description: 'The events that the URL gets.',
      accepts: `a list of ${WEBHOOK_EVENTS.map((event) => `\`${event}\``).join(', ')}`,
      unset: 'all',
    }),
  allowed_networks: z.array(text).max(100).default([]).meta({
    description:
      'The private addresses to which the service may connect for this webhook. Public addresses are always allowed.',
    accepts: 'a list of IP addresses and CIDR ranges, such as `[10.1.0.0/16]`',
    unset: 'no private address',
  }),
});

/**
 * The schema of CONFIG_FILE. `docs/configuration.md` is generated from this schema and from the schema of the environment.
 */
export const ConfigFile = z
  .strictObject({
    upstreams: z.record(name, Upstream).describe('The configured connections to providers, by name.'),
    models: z
      .array(Model)
      .min(1, 'must contain at least one model')
      .describe(
        'The models, in the order in which the service lists them. A model without a configured upstream is not listed.',
      ),
    tiers: z.record(name, Tier).describe('The limits of accounts, by name of the tier.'),
    default_tier: text.describe('The tier of new accounts, and of accounts whose tier is missing from this file.'),
    currency: z
      .string()
      .regex(/^[A-Z]{3}$/, 'must be a currency code of three letters, such as USD')
      .default('USD')
      .meta({ description: 'The currency of all prices.', accepts: 'a currency code of three letters' }),
    webhooks: z
      .record(name, Webhook)
      .default({})
      .describe('The receivers of events, by name. See [Webhooks](webhooks.md).'),
    plugins: z.record(name, z.unknown()).default({}).meta({
      description: 'The configuration of plugins, by name of the plugin. The plugins check it at start-up.',
      accepts: 'an object for each plugin, as the plugin documents it',
    }),
  })
  .check(({ value, issues }) => {
    const refuse = (path: (string | number)[], message: string) => {
      issues.push({ code: 'custom', path, message, input: value });
    };
    if (!Object.hasOwn(value.tiers, value.default_tier)) refuse(['default_tier'], 'is not one of the tiers');
    for (const [tier, { budget }] of Object.entries(value.tiers)) {
      if ((budget?.currency ?? value.currency) === value.currency) continue;
      refuse(['tiers', tier, 'budget', 'currency'], `must be ${value.currency}, the currency of the prices`);
    }
    const seen = new Set<string>();
    value.models.forEach((model, m) => {
      if (seen.has(model.id)) refuse(['models', m, 'id'], `"${model.id}" appears twice`);
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
