import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { beforeEach, describe, expect, it } from 'vitest';
import { usePace } from '../../../../../src/platform/common/timers/pace.js';
import { openPostgres, postgresOptions } from '../../../../../src/platform/database/postgres/open-postgres.js';
import { serverKind } from '../../../../../src/platform/database/postgres/server-kind.js';
import { closedPort, startSilentServer } from '../../../../support/silent-server.js';

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
