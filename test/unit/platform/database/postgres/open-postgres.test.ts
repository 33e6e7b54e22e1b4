import { describe, expect, it } from 'vitest';
import { ClientWithQueryTimeout } from '../../../../../src/platform/database/postgres/pool-clients.js';
import { credentialOptions, postgresOptions } from '../../../../../src/platform/database/postgres/open-postgres.js';

const main = postgresOptions('postgres://127.0.0.1/test');

describe('the connections to PostgreSQL', () => {
  it('have limits for their number, the connect, the statement, the answer and their age', () => {
    expect(main).toMatchObject({
      poolSize: 6,
      connectTimeoutMS: 5_000,
      extra: {
        keepAlive: true,
        statement_timeout: 10_000,
        idle_in_transaction_session_timeout: 10_000,
        query_timeout: 15_000,
        maxLifetimeSeconds: 300,
      },
    });
  });

  it('for credentials have shorter limits, and are replaced and kept alive like the others', () => {
    expect(credentialOptions(main, ClientWithQueryTimeout)).toMatchObject({
      poolSize: 3,
      connectTimeoutMS: 1_500,
      extra: {
        keepAlive: true,
        statement_timeout: 1_000,
        idle_in_transaction_session_timeout: 10_000,
        query_timeout: 1_500,
        maxLifetimeSeconds: 300,
      },
    });
  });

  it('for credentials send no statement_timeout where a pooler has refused it', () => {
    const { statement_timeout: refused, ...extra } = main.extra as Readonly<Record<string, unknown>>;
    expect(refused).toBe(10_000);
    expect(credentialOptions({ ...main, extra }, ClientWithQueryTimeout).extra).toMatchObject({
      statement_timeout: undefined,
      query_timeout: 1_500,
    });
  });
});
