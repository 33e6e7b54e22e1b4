import { z } from 'zod';
import { withoutTrailingSlashes } from '../../common/text/without-trailing-slashes.js';
import { LOG_LEVELS, type DatabaseConfig } from '../config.js';
import type { Variables } from './interpolation.js';
import { problemsOf } from './problems.js';

const wholeNumber = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .refine((value) => value >= least && value <= most, `must be between ${least} and ${most}`)
    .meta({ accepts: `a whole number, ${least} to ${most}` });

const databaseUrl = z.string().meta({ accepts: '`sqlite:<path>` or `postgres://…`' });
const database = databaseUrl.transform((url, context): DatabaseConfig => {
  const path = /^sqlite:(.+)$/.exec(url)?.[1];
  if (path !== undefined) return { type: 'sqlite', path };
  if (/^postgres(?:ql)?:\/\//.test(url) && URL.canParse(url)) return { type: 'postgres', url };
  context.addIssue({ code: 'custom', message: 'must be sqlite:<path> or postgres://…' });
  return z.NEVER;
});

const redisUrl = z
  .string()
  .refine((url) => /^rediss?:\/\//.test(url) && URL.canParse(url), 'must be redis://… or rediss://…')
  .meta({ accepts: '`redis://…` or `rediss://…`' });

const collector = z
  .string()
  .refine((url) => /^https?:\/\//.test(url) && URL.canParse(url), 'must be http://… or https://…')
  .meta({ accepts: '`http://…` or `https://…`' })
  .transform(withoutTrailingSlashes);

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
      .string()
      .optional()
      .meta({
        description:
          '`production`: the first start makes no development account, and sign-up is closed unless `SIGN_UP` opens it. ' +
          'Any other value counts as development.',
        unset: 'development',
      }),
    HOST: z.string().default('127.0.0.1').meta({
      description: 'The address or host name at which the service and `/metrics` listen. `0.0.0.0` listens everywhere.',
    }),
    PORT: wholeNumber(0, 65535).prefault('3000').meta({
      description: 'The port at which the service listens. 0 takes any free port.',
    }),
    DATABASE_URL: database.prefault('sqlite:data/chat.sqlite').meta({
      description:
        'Where accounts, keys, sessions and usage are stored. A SQLite file and its folders are made if they are missing, ' +
        'and several processes may open it.',
    }),
    REDIS_URL: redisUrl.optional().meta({
      description:
        'Replicas share limits, sign-in attempts and the list of models there. Needs `DATABASE_URL` to be `postgres://…`.',
      unset: 'each process counts alone',
    }),
    CONFIG_FILE: z.string().optional().meta({
      description: 'The path of the file with upstreams, models and tiers.',
      accepts: 'the path of a YAML or JSON file',
      unset: 'the built-in catalog',
    }),
    LOG_LEVEL: z
      .enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`)
      .default('info')
      .meta({
        description: 'The least important lines that the log still has.',
      }),
    TRUST_PROXY: wholeNumber(0, 100)
      .prefault('0')
      .meta({
        description:
          'How many proxies stand in front, exactly: their `X-Forwarded-For`, `X-Forwarded-Host` and `X-Forwarded-Proto` are ' +
          'believed. With too few, all clients share one address and its sign-in limits. With too many, clients invent theirs.',
      }),
    SHUTDOWN_GRACE_SECONDS: wholeNumber(0, 86_400).prefault('60').meta({
      description: 'How long streams in flight may go on after SIGTERM. Then they end with `shutting_down`.',
    }),
    STALLED_READER_SECONDS: wholeNumber(1, 86_400).prefault('300').meta({
      description: 'How long a client may read nothing of its stream before the connection is cut.',
    }),
    UNREAD_ANSWER_SECONDS: wholeNumber(1, 86_400)
      .prefault('30')
      .meta({
        description:
          'How long a client may read next to nothing (less than 64 KiB) of an answer that is not a stream before the ' +
          'connection is cut.',
      }),
    MAX_STREAMS: wholeNumber(1, 1_000_000).optional().meta({
      description: 'How many streams this process holds at once. Above it, requests get 503 `unavailable`.',
      unset: 'from the limits of memory and of open files',
    }),
    METRICS_PORT: wholeNumber(0, 65535).optional().meta({
      description: 'Serves `/metrics` for Prometheus on this port of its own, at `HOST`. 0 takes any free port.',
      unset: 'no metrics',
    }),
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.optional().meta({
      description: 'Traces go to this collector, by OTLP over HTTP, such as `http://127.0.0.1:4318`.',
      unset: 'no traces',
    }),
    OTEL_SERVICE_NAME: z.string().default('chat-streaming-service').meta({
      description: 'The name of this service in its traces.',
    }),
    SIGN_UP: openOrClosed.optional().meta({
      description: '`open`: anyone can make an account. `closed`: only the admin command makes accounts.',
      unset: '`open`; in production `closed`',
    }),
    API_DOCS: openOrClosed.default('open').meta({
      description:
        '`closed`: `/api/docs` and `/api/openapi.json` answer 404. Also open in production, as they hold no secret.',
    }),
  })
  .refine(({ REDIS_URL, DATABASE_URL }) => REDIS_URL === undefined || DATABASE_URL.type === 'postgres', {
    path: ['REDIS_URL'],
    message: 'needs DATABASE_URL to be postgres://…: replicas share both',
    // Runs this check even if there are other problems, so that all problems are reported at once.
    when: ({ value }) => typeof value === 'object',
  });

export type Environment = z.infer<typeof Environment>;

/** Returns the parsed environment, or the problems found in it. An empty variable counts as unset. */
export function readEnvironment(variables: Variables): { environment?: Environment; problems: string[] } {
  const set = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''));
  const result = Environment.safeParse(set);
  return result.success ? { environment: result.data, problems: [] } : { problems: problemsOf(result.error) };
}
