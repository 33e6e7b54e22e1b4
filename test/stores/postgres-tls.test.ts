import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readPostgresUrl } from '../../src/platform/config/sources/environment-values.js';
import { openPostgres, postgresOptions } from '../../src/platform/database/postgres/open-postgres.js';
import { configFile, routesTo } from '../support/catalog.js';
import { createCertificate } from '../support/certificate.js';
import { CERTIFIED_USER, initdb, postgres, PostgresWithTls } from '../support/postgres-with-tls.js';
import { Installation } from '../support/process.js';
import { waitFor } from '../support/wait-for.js';

describe.skipIf(initdb === undefined || postgres === undefined)('with a PostgreSQL server that demands TLS', () => {
  let server: PostgresWithTls;
  let folder: string;
  let otherCa: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'chat-ca-'));
    otherCa = createCertificate(folder).certificate;
    server = await PostgresWithTls.start();
  });
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  /** Opens the database and closes it. Returns 'opened', or the reason. */
  async function open(url: string, parameters: Readonly<Record<string, string>>): Promise<string> {
    const read = readPostgresUrl(`${url}?${new URLSearchParams(parameters)}`);
    if (typeof read === 'string') return read;
    try {
      await (await openPostgres(postgresOptions(read.href))).destroy();
      return 'opened';
    } catch (error) {
      return (error as Error).message;
    }
  }

  it.each(['require', 'verify-ca', 'verify-full'])('%s checks the certificate and the host name', async (sslmode) => {
    const trusted = { sslmode, sslrootcert: server.ca };
    expect(await open(server.url(), trusted)).toBe('opened');
    expect(await open(server.url(), { sslmode })).toContain('the certificate of the server is not trusted');
    expect(await open(server.url(), { sslmode, sslrootcert: otherCa })).toContain('is not trusted');
    expect(await open(server.url('postgres', '127.0.0.2'), trusted)).toContain('is for another host');
  });

  it('no-verify checks nothing, and without TLS the reason is the missing TLS', async () => {
    expect(await open(server.url('postgres', '127.0.0.2'), { sslmode: 'no-verify' })).toBe('opened');
    expect(await open(server.url(), {})).toContain('the server accepts only connections with TLS');
    expect(await open(server.url(), { sslmode: 'disable' })).toContain('the server accepts only connections with TLS');
  });

  it('takes a client certificate, and says when it is missing', async () => {
    const { key, certificate } = server.client;
    const trusted = { sslmode: 'verify-full', sslrootcert: server.ca };
    expect(await open(server.url(CERTIFIED_USER), trusted)).toContain('has not accepted the client certificate');
    expect(await open(server.url(CERTIFIED_USER), { ...trusted, sslcert: certificate, sslkey: key })).toBe('opened');
  });

  it('prints JSON lines only, also in production and without an account', async () => {
    const parameters = `sslmode=require&sslrootcert=${server.ca}`;
    const installation = await Installation.create(configFile(routesTo(['http://127.0.0.1:9'])), {
      DATABASE_URL: `${server.url()}?${parameters}`,
      NODE_ENV: 'production',
    });
    const service = installation.start();
    await service.origin();
    await waitFor(() => service.stdout.includes('There is no account yet'), 'the last line of the start');
    await service.stop();
    expect(service.stderr).toBe('');
    for (const line of service.stdout.trimEnd().split('\n')) expect(() => JSON.parse(line) as unknown).not.toThrow();
    await installation.remove();
  });
});
