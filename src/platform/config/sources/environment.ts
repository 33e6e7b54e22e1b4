import { z } from 'zod';
import { withoutTrailingSlashes } from '../../common/text/cut-text.js';
import { converted, readPostgresUrl, readResourceAttributes } from './environment-values.js';
import { BUILT_IN_PLUGINS, LOG_LEVELS, type DatabaseConfig } from '../config.js';
import type { Variables } from './interpolation.js';
import { readRedisUrl } from './redis-url.js';
import { zodProblems } from '../model-of.js';
import { hasWholeIssuer, SINGLE_SIGN_ON_VARIABLES } from './single-sign-on-environment.js';

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be between ${min} and ${max}`)
    .meta({ accepts: `a whole number, ${min} to ${max}` });

const databaseUrl = z.string().meta({ accepts: '`sqlite:<path>` or `postgres://…`' });
const database = databaseUrl.transform((url, context): DatabaseConfig => {
  const path = /^sqlite:(.+)$/.exec(url)?.[1];
  if (path !== undefined) return { type: 'sqlite', path };
  const postgres = readPostgresUrl(url);
  if (postgres instanceof URL) return { type: 'postgres', url: postgres.href };
  context.addIssue({ code: 'custom', message: postgres });
  return z.NEVER;
});

const redisUrl = z
  .string()
  .superRefine((url, context) => {
    const address = readRedisUrl(url);
    if (typeof address === 'string') context.addIssue({ code: 'custom', message: address });
  })
  .meta({
    accepts:
      '`redis://…`, `redis+sentinel://host:port,…/<master>` or `redis+cluster://host:port,…`; with TLS `rediss…`',
  });

const collector = z
  .string()
  .refine((url) => /^https?:\/\//.test(url) && URL.canParse(url), 'must be http://… or https://…')
  .meta({ accepts: '`http://…` or `https://…`' })
  .transform(withoutTrailingSlashes);

const resourceAttributes = converted(readResourceAttributes, {
  accepts: 'a list `key=value,key=value`, with percent-encoded values',
  message: 'must be a list key=value,key=value',
});

/** The name of this service in traces, if the environment names none. */
export const DEFAULT_SERVICE_NAME = 'chat-streaming-service';

const NODE_ENVIRONMENTS = ['production', 'development', 'test'] as const;

const COMPATIBLE_APIS = ['chat-completions', 'responses', 'messages'] as const;

/** A list of names, or one of the words that stand for a list. */
function namesOrWord<Name extends string>(
  known: readonly Name[],
  words: Readonly<Record<string, readonly Name[]>>,
  accepts: string,
) {
  const read = (list: string): readonly Name[] | undefined => {
    const given = list.split(',').map((name) => name.trim());
    const meant = Object.entries(words).find(([word]) => given.length === 1 && given[0] === word);
    if (meant !== undefined) return meant[1];
    const found = known.filter((name) => given.includes(name));
    return found.length === new Set(given).size ? found : undefined;
  };
  const message = `must be ${Object.keys(words).join(', ')}, or a list of ${known.join(', ')}`;
  return converted(read, { accepts, message });
}

const inCode = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ');

const compatibleApis = namesOrWord(COMPATIBLE_APIS, { none: [] }, `a list of ${inCode(COMPATIBLE_APIS)}, or \`none\``);
const plugins = namesOrWord(
  BUILT_IN_PLUGINS,
  { all: BUILT_IN_PLUGINS, none: [] },
  `\`all\`, \`none\`, or a list of ${inCode(BUILT_IN_PLUGINS)}`,
);

const corsOrigins = converted(
  (list) => {
    const origins = list.split(',').map((origin) => origin.trim());
    return origins.every(isWebOrigin) ? origins : undefined;
  },
  {
    accepts: 'a list of origins `https://host,https://host:port`',
    message: 'must be a list of origins such as https://tools.example.com',
  },
);

function isWebOrigin(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) && url.origin === text;
}

/** Runs a check of several variables even if there are other problems, so that all problems are reported at once. */
const BESIDE_OTHER_PROBLEMS = { when: ({ value }: { readonly value: unknown }) => typeof value === 'object' };

const openOrClosed = z.enum(['open', 'closed'], 'must be open or closed');

/**
 * The schema of every variable that the service reads, except the variables that CONFIG_FILE names and the variables of
 * OpenTelemetry's SDK.
 *
 * `docs/configuration.md` is generated from this schema. `description` is the effect of the variable. `unset` describes
 * what happens without the variable, if there is no fixed default.
 */
export const Environment = z
  .object({
    NODE_ENV: z
      .enum(NODE_ENVIRONMENTS, `must be one of ${NODE_ENVIRONMENTS.join(', ')}`)
      .default('development')
      .meta({
        description: '`production`: the first start creates no development account, and sign-up is closed by default.',
      }),
    HOST: z.string().default('127.0.0.1').meta({
      description:
        'The address or host name at which the service and `/metrics` listen. `0.0.0.0` listens on all IPv4 addresses.',
    }),
    PORT: wholeNumber(0, 65535).prefault('3000').meta({
      description: 'The port at which the service listens. 0 selects a free port.',
    }),
    DATABASE_URL: database.prefault('sqlite:data/chat.sqlite').meta({
      description:
        'Where accounts, keys, sessions and usage are stored. If the SQLite file and its folders are missing, the service ' +
        'creates them. Several processes can open the same file.',
    }),
    REDIS_URL: redisUrl.optional().meta({
      description:
        'The Redis in which replicas share limits, sign-in attempts and durable streams: one server, a group ' +
        'with Sentinel, or a cluster. Needs `DATABASE_URL` to be `postgres://…`.',
      unset: 'each process counts for itself',
    }),
    CONFIG_FILE: z.string().optional().meta({
      description: 'The file with upstreams, models and tiers.',
      accepts: 'the path of a YAML or JSON file',
      unset: 'the built-in catalog',
    }),
    LOG_LEVEL: z
      .enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`)
      .default('info')
      .meta({
        description: 'The log contains messages of this level and of more severe levels.',
      }),
    TRUST_PROXY: wholeNumber(0, 100)
      .prefault('0')
      .meta({
        description:
          'The exact number of proxies in front of the service. The service trusts their `X-Forwarded-For`, `X-Forwarded-Host` and ' +
          '`X-Forwarded-Proto`. If the number is too low, all clients share one address and its sign-in limits. If the number is ' +
          'too high, clients can fake their address.',
      }),
    SHUTDOWN_GRACE_SECONDS: wholeNumber(0, 86_400).prefault('60').meta({
      description:
        'How long running streams can continue after SIGTERM. After this time, they end with `shutting_down`.',
    }),
    STALLED_READER_SECONDS: wholeNumber(1, 86_400).prefault('300').meta({
      description: 'If a client reads nothing from its stream for this time, the service closes the connection.',
    }),
    UNREAD_ANSWER_SECONDS: wholeNumber(1, 86_400)
      .prefault('30')
      .meta({
        description:
          'For answers other than streams: if a client has not read the whole answer and reads less than 64 KiB in this time, the ' +
          'service closes the connection.',
      }),
    STREAM_RETENTION_SECONDS: wholeNumber(1, 86_400).prefault('300').meta({
      description: 'How long a durable stream can be read again after its end.',
    }),
    STREAM_DETACHED_SECONDS: wholeNumber(1, 86_400)
      .prefault('60')
      .meta({
        description:
          'How long a durable stream is generated while no client reads. After this time, the generation stops. A stream of a web ' +
          'session may run for `STREAM_RETENTION_SECONDS` without a reader.',
      }),
    STREAM_MEMORY_MB: wholeNumber(1, 1_048_576)
      .prefault('64')
      .meta({
        description:
          'The memory of this process for durable streams, in MiB. When the memory is full, the account that uses the most gives ' +
          'way: its ended streams are dropped, the oldest first, and its new durable streams get 503 `unavailable`. The running ' +
          'streams of one account hold at most half of the memory when a new one begins. With Redis, also the limit of the ended ' +
          'streams that Redis keeps for one account and replica.',
      }),
    MAX_STREAMS: wholeNumber(1, 1_000_000).optional().meta({
      description: 'The maximum number of concurrent streams in this process. Further requests get 503 `unavailable`.',
      unset: 'calculated from the limits of memory and of open files',
    }),
    USAGE_RETENTION_DAYS: wholeNumber(1, 36_500).optional().meta({
      description:
        'After this number of days, usage records are deleted. Receipts are then gone. Reports stay, because the daily sums are kept.',
      unset: 'usage records are kept forever',
    }),
    AUDIT_RETENTION_DAYS: wholeNumber(1, 36_500).optional().meta({
      description: 'After this number of days, entries of the audit log are deleted.',
      unset: 'audit entries are kept forever',
    }),
    METRICS_PORT: wholeNumber(0, 65535).optional().meta({
      description: 'A separate port that serves `/metrics` for Prometheus, on `HOST`. 0 selects a free port.',
      unset: 'no metrics',
    }),
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.optional().meta({
      description: 'The collector that gets the traces, by OTLP over HTTP. Example: `http://127.0.0.1:4318`.',
      unset: 'no traces',
    }),
    OTEL_SERVICE_NAME: z
      .string()
      .optional()
      .meta({
        description: 'The name of this service in traces.',
        unset: `\`service.name\` in \`OTEL_RESOURCE_ATTRIBUTES\`, or else \`${DEFAULT_SERVICE_NAME}\``,
      }),
    OTEL_RESOURCE_ATTRIBUTES: resourceAttributes.optional().meta({
      description:
        'Attributes of this service in traces. Example: `deployment.environment.name=production,service.namespace=chat`.',
      unset: 'no additional attributes',
    }),
    SIGN_UP: openOrClosed.optional().meta({
      description:
        '`open`: anyone can create an account with a password. `closed`: only operators and the admin command do. Single sign-on creates accounts in both cases.',
      unset: '`open`; in production `closed`',
    }),
    ...SINGLE_SIGN_ON_VARIABLES,
    PLUGINS: plugins.prefault('all').meta({
      description:
        'The features that are in use. What is left out has no routes, no pages and no work: see [Plugins of the service](operations.md#plugins-of-the-service).',
    }),
    COMPATIBLE_APIS: compatibleApis.prefault(COMPATIBLE_APIS.join(',')).meta({
      description:
        'The interfaces of other APIs that the service has: `POST /chat/completions`, `POST /responses` and `POST /messages`, with ' +
        '`GET /models`. `none` removes all of them.',
    }),
    CORS_ORIGINS: corsOrigins.optional().meta({
      description:
        'The origins whose pages may call `/chat/*` and the compatible interfaces from a browser, with an API key. Cookies are never allowed.',
      unset: 'no other origin',
    }),
    API_DOCS: openOrClosed.default('open').meta({
      description:
        '`closed`: `/api/docs` and `/api/openapi.json` answer 404. The default is `open` in production too, because both contain no secrets.',
    }),
  })
  .refine(({ REDIS_URL, DATABASE_URL }) => REDIS_URL === undefined || DATABASE_URL.type !== 'sqlite', {
    path: ['REDIS_URL'],
    message: 'needs DATABASE_URL to be postgres://…, because replicas share both',
    ...BESIDE_OTHER_PROBLEMS,
  })
  .refine(({ PORT, METRICS_PORT }) => PORT !== METRICS_PORT || PORT === 0, {
    path: ['METRICS_PORT'],
    message: 'must differ from PORT',
    ...BESIDE_OTHER_PROBLEMS,
  })
  .refine(hasWholeIssuer, {
    path: ['OIDC_ISSUER'],
    message: 'needs OIDC_CLIENT_ID, OIDC_CLIENT_SECRET and PUBLIC_URL',
    ...BESIDE_OTHER_PROBLEMS,
  })
  .refine(
    ({ PASSWORDS, OIDC_ISSUER, PLUGINS }) =>
      PASSWORDS !== 'off' || (OIDC_ISSUER !== undefined && PLUGINS.includes('single-sign-on')),
    {
      path: ['PASSWORDS'],
      message: 'must be on without OIDC_ISSUER and the plugin single-sign-on, because nobody could sign in',
      ...BESIDE_OTHER_PROBLEMS,
    },
  );

export type Environment = z.infer<typeof Environment>;

/** Returns the parsed environment, or the problems found in it. An empty variable counts as unset. */
export function readEnvironment(variables: Variables): { environment?: Environment; problems: string[] } {
  const set = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''));
  const result = Environment.safeParse(set);
  return result.success ? { environment: result.data, problems: [] } : { problems: zodProblems(result.error) };
}
