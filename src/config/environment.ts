import { z } from 'zod';
import { LOG_LEVELS, type DatabaseConfig } from './config.js';
import type { Variables } from './interpolation.js';
import { problemsOf } from './problems.js';

const wholeNumber = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .refine((value) => value >= least && value <= most, `must be between ${least} and ${most}`);

const database = z.string().transform((url, context): DatabaseConfig => {
  const path = /^sqlite:(.+)$/.exec(url)?.[1];
  if (path !== undefined) return { type: 'sqlite', path };
  if (/^postgres(ql)?:\/\//.test(url) && URL.canParse(url)) return { type: 'postgres', url };
  context.addIssue({ code: 'custom', message: 'must be sqlite:<path> or postgres://…' });
  return z.NEVER;
});

const redisUrl = z
  .string()
  .refine((url) => /^rediss?:\/\//.test(url) && URL.canParse(url), 'must be redis://… or rediss://…');

const collector = z
  .string()
  .refine((url) => /^https?:\/\//.test(url) && URL.canParse(url), 'must be http://… or https://…')
  .transform((url) => url.replace(/\/+$/, ''));

/** Every variable that the service reads, but for those that CONFIG_FILE names and those of OpenTelemetry's SDK. */
const Environment = z
  .object({
    NODE_ENV: z.string().optional(),
    HOST: z.string().default('127.0.0.1'),
    PORT: wholeNumber(0, 65535).default(3000),
    DATABASE_URL: database.default({ type: 'sqlite', path: 'data/chat.sqlite' }),
    REDIS_URL: redisUrl.optional(),
    CONFIG_FILE: z.string().optional(),
    LOG_LEVEL: z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`).default('info'),
    TRUST_PROXY: wholeNumber(0, 100).default(0),
    SHUTDOWN_GRACE_SECONDS: wholeNumber(0, 86_400).default(60),
    STALLED_READER_SECONDS: wholeNumber(1, 86_400).default(300),
    METRICS_PORT: wholeNumber(0, 65535).optional(),
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.optional(),
    OTEL_SERVICE_NAME: z.string().default('chat-streaming-service'),
    SIGN_UP: z.enum(['open', 'closed'], 'must be open or closed').optional(),
  })
  .refine(({ REDIS_URL, DATABASE_URL }) => REDIS_URL === undefined || DATABASE_URL.type === 'postgres', {
    path: ['REDIS_URL'],
    message: 'needs DATABASE_URL to be postgres://…: replicas share both',
    // Told beside the other problems, not only once they are mended.
    when: ({ value }) => typeof value === 'object',
  });

export type Environment = z.infer<typeof Environment>;

/** The environment with its types, or the problems found in it. An empty variable counts as unset. */
export function readEnvironment(variables: Variables): { environment?: Environment; problems: string[] } {
  const set = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''));
  const result = Environment.safeParse(set);
  return result.success ? { environment: result.data, problems: [] } : { problems: problemsOf(result.error) };
}
