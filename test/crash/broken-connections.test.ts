import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ScriptedProvider } from '../../src/testing/provider/scripted-provider.js';
import { sharedStores } from '../replicas/support/stores.js';
import { configFile, routesTo } from '../support/catalog.js';
import { createCertificate, type Certificate } from '../support/certificate.js';
import { OtlpCollector } from '../support/otlp-collector.js';
import { Installation } from '../support/process.js';
import { SeededRandom } from '../support/seeded-random.js';
import { get, openStream, stream } from '../support/sse-client.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { waitFor } from '../support/wait-for.js';

const stores = await sharedStores();
const POSTGRES_PORT = 5432;
const BROKEN_MS = 8_000;
const RECONNECT_EVERY_MS = 150;
/** From the first byte of a handshake to the middle of an answer. */
const BYTES = [0, 1, 5, 40, 200, 700, 1_500, 4_000, 20_000];
/** What clients send before they reset their connections. */
const REQUESTS = [
  '',
  'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n',
  'GET /api/v1/responses HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
  'POST /api/v1/chat/stream HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"mod',
  'GET /api/v1/health HTTP/1.1\r\nHost: a\r\n\r\nGET /api/v1/health HTTP/1.1\r\nHo',
  '\x16\x03\x01\x02\x00\x01\x00',
];
const SWITCHING =
  'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nand something else';

/** Decrypts what clients of a server without TLS send, as stunnel does. */
async function tlsServer(targetPort: number, { key, certificate }: Certificate, isPostgres = false): Promise<Server> {
  const context = { isServer: true, key: readFileSync(key), cert: readFileSync(certificate) };
  const server = createServer((socket) => {
    const decrypt = (): void => {
      const client = new TLSSocket(socket, context);
      const target = connect(targetPort, '127.0.0.1');
      client.pipe(target).pipe(client);
      for (const each of [socket, client, target]) {
        each.on('error', () => undefined).on('close', () => [socket, client, target].map((other) => other.destroy()));
      }
    };
    if (!isPostgres) decrypt();
    // The client asks whether the server has TLS.
    else
      socket
        .on('error', () => undefined)
        .once('data', () => {
          socket.write('S');
          decrypt();
        });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return server;
}

/** A provider that answers each request with another protocol, and resets the connection. */
async function switchingServer(): Promise<Server> {
  const server = createServer((socket) => {
    socket
      .on('error', () => undefined)
      .once('data', () => {
        socket.write(SWITCHING, () => socket.resetAndDestroy());
      });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return server;
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

describe.skipIf(stores === undefined)('a process whose connections break off at any byte', () => {
  const folder = mkdtempSync(join(tmpdir(), 'chat-broken-'));
  let certificate: Certificate;

  beforeAll(() => {
    certificate = createCertificate(folder);
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true });
    await stores?.redis.drop();
  });

  it.each(['without TLS', 'with TLS'])('(%s) serves on, and ends in order', { timeout: 120_000 }, async (how) => {
    const isSecure = how === 'with TLS';
    const { postgres, redis } = stores as NonNullable<typeof stores>;
    const random = new SeededRandom(49);
    const provider = await ScriptedProvider.start();
    provider.answers((call) => {
      call.answer('Hello');
    });
    const collector = await OtlpCollector.start();
    const switching = await switchingServer();
    const servers: Server[] = [switching];
    const linkTo = async (port: number, isPostgres = false): Promise<TcpProxy> => {
      if (!isSecure) return TcpProxy.start(port);
      const server = await tlsServer(port, certificate, isPostgres);
      servers.push(server);
      return TcpProxy.start(portOf(server));
    };
    const database = await postgres.create();
    const links = {
      postgres: await linkTo(POSTGRES_PORT, true),
      redis: await linkTo(redis.port),
      provider: await linkTo(Number(new URL(provider.origin).port)),
      collector: await linkTo(Number(new URL(collector.endpoint).port)),
    };
    const http = (link: TcpProxy): string => `http${isSecure ? 's' : ''}://127.0.0.1:${link.port}`;
    const catalog = routesTo([`http://127.0.0.1:${portOf(switching)}`, 'http://127.0.0.1:9', http(links.provider)]);
    // A program that is killed, for the second route.
    const credentials = { kind: 'command', command: ['/bin/sh', '-c', 'kill -9 $$'] };
    const backup = { ...catalog.upstreams['backup'], api_key: undefined, credentials };
    const url = new URL(database.config.type === 'postgres' ? database.config.url : '');
    url.port = String(links.postgres.port);
    if (isSecure) url.searchParams.set('sslmode', 'no-verify');
    const installation = await Installation.create(
      configFile({ ...catalog, upstreams: { ...catalog.upstreams, backup } }),
      {
        DATABASE_URL: url.toString(),
        REDIS_URL: `redis${isSecure ? 's' : ''}://127.0.0.1:${links.redis.port}/${redis.database}`,
        OTEL_EXPORTER_OTLP_ENDPOINT: http(links.collector),
        OTEL_BSP_SCHEDULE_DELAY: '100',
        NODE_EXTRA_CA_CERTS: certificate.certificate,
      },
    );
    try {
      const { key } = await installation.createKey();
      const service = installation.start();
      const origin = await service.origin();
      expect((await stream(origin, { key })).status).toBe(200);

      const until = performance.now() + BROKEN_MS;
      for (const link of Object.values(links)) link.bytesUntilReset = () => random.pick(BYTES);
      const whileBroken = async (act: () => Promise<void>): Promise<void> => {
        while (performance.now() < until) await act();
      };
      await Promise.all([
        whileBroken(async () => {
          for (const link of Object.values(links)) {
            link.cut();
            link.restore();
          }
          await sleep(RECONNECT_EVERY_MS);
        }),
        ...[{}, { 'idempotency-key': 'same' }].map((headers) =>
          whileBroken(async () => {
            const answer = await openStream(origin, { key, headers });
            await answer.over;
          }),
        ),
        whileBroken(() => breakOff(origin, random.pick(REQUESTS), random.between(0, 30))),
      ]);
      for (const link of Object.values(links)) {
        link.bytesUntilReset = () => Infinity;
        link.cut();
        link.restore();
      }

      const isReady = async (): Promise<boolean> => (await get(origin, '/api/v1/health/ready')).status === 200;
      await waitFor(isReady, 'the process to be ready', 30_000);
      expect(service.hasExited).toBe(false);
      await waitFor(async () => (await stream(origin, { key })).status === 200, 'an answer', 30_000);
      service.signal('SIGTERM');
      const { code, stdout, stderr } = await service.exited;
      expect(code).toBe(0);
      expect(stdout.split('\n').filter((line) => line.includes('internal_error'))).toEqual([]);
      expect(stderr).toBe('');
    } finally {
      await installation.remove();
      for (const link of Object.values(links)) await link.stop();
      for (const server of servers) server.close();
      await provider.stop();
      await collector.stop();
      await database.drop();
    }
  });
});

/** Sends the bytes to the service, and resets the connection. */
async function breakOff(origin: string, bytes: string, afterMs: number): Promise<void> {
  const { hostname, port } = new URL(origin);
  const socket: Socket = connect(Number(port), hostname).on('error', () => undefined);
  socket.write(bytes, 'latin1');
  await sleep(afterMs);
  socket.resetAndDestroy();
}
