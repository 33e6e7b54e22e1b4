import { CONFIG, type Config } from '../../src/platform/config/config.js';
import { get } from '../support/sse-client.js';
import { notWithin, shown, type Effects } from './effect.js';

const DATABASE_PROBLEM = 'DATABASE_URL: must be sqlite:<path> or postgres://…';
const SSL_MODES = 'has an sslmode that is not one of disable, no-verify, require, verify-ca, verify-full';
const REDIS_PROBLEM =
  'REDIS_URL: must be redis://…, rediss://…, redis+sentinel://host:port,…/<master> or redis+cluster://host:port,… (rediss+… with TLS)';

const REDIS_PROBLEM_OF_SENTINEL =
  'REDIS_URL: must name the master that the Sentinels watch: redis+sentinel://host:port,…/<master>';

/** Stores, and the file of upstreams, models and tiers. */
export const stores: Effects = {
  DATABASE_URL: {
    refused: [
      ['mysql://localhost', DATABASE_PROBLEM],
      ['sqlite:', DATABASE_PROBLEM],
      ['postgres://[', DATABASE_PROBLEM],
      ['postgres://ada:pa%ss@localhost/chat', 'DATABASE_URL: has a % that is not encoded as %25'],
      ['postgres://localhost/chat?sslmode=bogus', `DATABASE_URL: ${SSL_MODES}`],
      ['postgres://localhost/chat?sslmode=constructor', `DATABASE_URL: ${SSL_MODES}`],
      [
        'postgres://localhost/chat?sslrootcert=/none.pem',
        'DATABASE_URL: names a file in sslrootcert that cannot be read',
      ],
    ],
  },
  USAGE_RETENTION_DAYS: {
    // test/contract/usage/record-retention.test.ts shows the effect, with a clock of its own.
    ...shown({ USAGE_RETENTION_DAYS: '30' }, ({ service: { app } }) => app.get<Config>(CONFIG).usageRetentionDays, {
      set: 30,
      unset: undefined,
    }),
    refused: notWithin('USAGE_RETENTION_DAYS', 1, 36_500, 'a year'),
  },
  AUDIT_RETENTION_DAYS: {
    refused: notWithin('AUDIT_RETENTION_DAYS', 1, 36_500, '1.5'),
  },
  REDIS_URL: {
    refused: [
      ['127.0.0.1:6379', REDIS_PROBLEM],
      ['http://127.0.0.1', REDIS_PROBLEM],
      ['redis://127.0.0.1/abc', 'REDIS_URL: must end with the number of the database, or with the port'],
      ['redis+sentinel://127.0.0.1:26379', REDIS_PROBLEM_OF_SENTINEL],
      ['redis+sentinel://127.0.0.1:26379/a b', REDIS_PROBLEM_OF_SENTINEL],
      [
        'redis+cluster://127.0.0.1:7000/1',
        'REDIS_URL: a cluster has no databases: remove the number after the servers',
      ],
      ['redis://127.0.0.1', 'REDIS_URL: needs DATABASE_URL to be postgres://…, because replicas share both'],
    ],
  },
  CONFIG_FILE: {
    refused: [
      ['/nowhere/config.yaml', 'CONFIG_FILE: the file does not exist'],
      ['/', 'CONFIG_FILE: the path is not a regular file'],
    ],
  },
};

export async function modelsOf(origin: string): Promise<string[]> {
  const { models } = JSON.parse((await get(origin, '/api/v1/chat/models')).raw) as { models: { id: string }[] };
  return models.map(({ id }) => id);
}
