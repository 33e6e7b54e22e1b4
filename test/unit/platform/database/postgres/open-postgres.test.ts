import { describe, expect, it, beforeEach } from 'vitest';
import { ClientWithQueryTimeout } from '../../../../../src/platform/database/postgres/pool-clients.js';
import {
  credentialOptions,
  postgresOptions,
  openPostgres,
  serverKind,
} from '../../../../../src/platform/database/postgres/open-postgres.js';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { usePace } from '../../../../../src/platform/common/timers/pace.js';
import { closedPort, startSilentServer } from '../../../../support/silent-server.js';

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

async function at<Result>(server: Server, ask: (url: string) => Promise<Result>): Promise<Result> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await ask(`postgres://chat@127.0.0.1:${(server.address() as AddressInfo).port}/chat`);
  } finally {
    server.close();
  }
}

function answering(answer: string): Server {
  return createServer((socket: Socket) => {
    socket.on('error', () => undefined).once('data', () => socket.end(answer, 'latin1'));
  });
}

describe('the kind of a server', () => {
  beforeEach(() => usePace(5));

  it.each([
    ['postgres', 'N'],
    ['postgres', 'S'],
    ['postgres', 'E\0\0\0\x50SFATAL\0'],
    ['postgres', 'SE\0\0\0\x50SFATAL\0'],
    ['other', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['other', "-ERR unknown command ''\r\n"],
    ['other', 'EHLO'],
    ['silent', ''],
  ])('is %s for the answer %j', async (kind, answer) => {
    expect(await at(answering(answer), (url) => serverKind(new URL(url)))).toBe(kind);
  });

  it('is other for an HTTP server', async () => {
    expect(await at(createHttpServer(), (url) => serverKind(new URL(url)))).toBe('other');
  });

  it('is silent for a server that never answers, and unreachable without a server', async () => {
    const silent = await startSilentServer();
    expect(await serverKind(new URL(`postgres://${silent.authority}/chat`))).toBe('silent');
    await silent.stop();
    expect(await serverKind(new URL(`postgres://127.0.0.1:${await closedPort()}/chat`))).toBe('unreachable');
  });
});

/** As Redis does: answers commands, and nothing at all after a zero byte. */
function answeringLines(): Server {
  return createServer((socket) => {
    socket
      .on('error', () => undefined)
      .on('data', (data) => {
        if (/^\s*\w+\r\n/.test(data.toString('latin1'))) socket.write('-NOAUTH Authentication required.\r\n');
      });
  });
}

it('a start at the port of another protocol fails before the time limit of the driver', async () => {
  const startedAt = performance.now();
  await at(answeringLines(), (url) =>
    expect(openPostgres(postgresOptions(url))).rejects.toThrow('the server at this address is not PostgreSQL'),
  );
  expect(performance.now() - startedAt).toBeLessThan(4500);
});
