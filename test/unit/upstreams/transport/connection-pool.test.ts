import { createRequire } from 'node:module';
import type { Client } from 'undici';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ProviderCall } from '../../../../src/testing/provider/provider-call.js';
import { ScriptedProvider } from '../../../../src/testing/provider/scripted-provider.js';
import { ConnectionPool, type Connection } from '../../../../src/upstreams/transport/connection-pool.js';
import { startSilentServer } from '../../../support/silent-server.js';
import { waitFor } from '../../../support/wait-for.js';
import { turn } from '../played-connection.js';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { ShedLoad } from '../../../../src/platform/common/shed-load.js';
import type { Config, UpstreamConfig } from '../../../../src/platform/config/config.js';
import { UpstreamConnections } from '../../../../src/upstreams/transport/upstream-connections.js';
import type { UpstreamExchange } from '../../../../src/upstreams/transport/upstream-exchange.js';

const CONNECT_TIMEOUT_MS = 60_000;
/** Longer than undici waits for an answer by default. */
const LONG_MS = 600_000;

/** The timers of undici that are not exact. */
const { tick } = createRequire(import.meta.url)('undici/lib/util/timers.js') as { tick(ms: number): void };

let provider: ScriptedProvider;
let pool: ConnectionPool;

beforeEach(async () => {
  provider = await ScriptedProvider.start();
  pool = new ConnectionPool(provider.origin, CONNECT_TIMEOUT_MS);
});
afterEach(async () => {
  await pool.destroy();
  await provider.stop();
});

async function send({ client }: Connection): Promise<void> {
  const { body } = await client.request({ path: '/', method: 'POST', body: '{}' });
  await body.dump();
}

/** Opens a connection that has served an exchange. */
async function served(): Promise<Connection> {
  const connection = pool.open();
  await send(connection);
  return connection;
}

/** Moves the timers of undici. It counts a new timer from the first of two moves. */
async function moveTimers(ms: number): Promise<void> {
  tick(0);
  tick(ms);
  await turn();
}

async function lose(connection: Connection): Promise<void> {
  const left = pool.size - 1;
  provider.next((call) => call.cut());
  await expect(send(connection)).rejects.toMatchObject({ code: expect.any(String) as string });
  await waitFor(() => pool.size === left, 'the pool to notice');
}

describe('a pool of connections', () => {
  it('lends a connection to one exchange at a time', async () => {
    expect(pool.reuse()).toBeUndefined();
    const first = await served();
    expect([first.reused, pool.reuse(), pool.size]).toEqual([false, undefined, 1]);
    first.release();
    const again = pool.reuse();
    expect(again).toMatchObject({ reused: true });
    expect([again?.client === first.client, pool.reuse(), pool.size]).toEqual([true, undefined, 1]);
    await send(again as Connection);
    expect(provider.connections).toBe(1);
  });

  it('prefers the most recently used connection, and closes the others first', async () => {
    const [first, second, third] = [await served(), await served(), await served()];
    for (const { release } of [second, third, first]) release();
    expect(pool.reuse()?.client).toBe(first.client);
    expect([pool.closeUnneeded(), (second.client as Client).destroyed, pool.size]).toEqual([true, true, 2]);
    expect(pool.reuse()?.client).toBe(third.client);
    expect([pool.closeUnneeded(), pool.size]).toEqual([false, 2]);
  });

  it('closes idle connections before those whose exchange needs no more', async () => {
    const [idle, spare] = [await served(), await served()];
    spare.spare();
    idle.release();
    expect([pool.closeUnneeded(), (idle.client as Client).destroyed, pool.size]).toEqual([true, true, 1]);
    expect([pool.closeUnneeded(), (spare.client as Client).destroyed, pool.size]).toEqual([true, true, 0]);
    expect(pool.closeUnneeded()).toBe(false);
    spare.release();
    expect([pool.closeUnneeded(), pool.reuse()]).toEqual([false, undefined]);
  });

  it('closes a connection that does not open in time', async () => {
    const server = await startSilentServer();
    const silent = new ConnectionPool(`https://${server.authority}`, CONNECT_TIMEOUT_MS);
    const failed = vi.fn<(error: Error) => void>();
    const over = send(silent.open()).catch(failed);
    await moveTimers(CONNECT_TIMEOUT_MS / 2);
    expect([failed.mock.calls, silent.size]).toEqual([[], 1]);
    await moveTimers(CONNECT_TIMEOUT_MS);
    await over;
    expect(failed).toHaveBeenCalledWith(expect.objectContaining({ code: 'UND_ERR_CONNECT_TIMEOUT' }));
    expect(silent.size).toBe(0);
    await server.stop();
  });

  it('leaves it to the reader how long to wait for an answer', async () => {
    const call = new Promise<ProviderCall>((resolve) => provider.next(resolve));
    const answered = pool.open().client.request({ path: '/', method: 'POST', body: '{}' });
    const received = await call;
    await moveTimers(LONG_MS);
    received.head();
    const { body } = await answered;
    await moveTimers(LONG_MS);
    received.end();
    expect(await body.text()).toBe('');
  });
});

describe('a connection that was lost', () => {
  it.each(['spare', 'release', 'lend'] as const)('is not closed once more after %s', async (how) => {
    const lost = await served();
    await lose(lost);
    lost[how]();
    expect([pool.closeUnneeded(), pool.reuse(), pool.size]).toEqual([false, undefined, 0]);
  });
});

describe('a connection that is lent', () => {
  /** Lends a new connection for a request that the provider has received. */
  async function lend(): Promise<{ connection: Connection; call: ProviderCall; answered: Promise<void> }> {
    provider.next(() => undefined);
    const connection = pool.open();
    const answered = send(connection);
    connection.lend();
    return { connection, call: await provider.call(provider.calls.length + 1), answered };
  }

  it('is not lent again or closed while it is in use', async () => {
    const { call, answered } = await lend();
    expect([pool.reuse(), pool.closeUnneeded(), pool.size]).toEqual([undefined, false, 1]);
    call.answer();
    await answered;
  });

  it('comes back once when it has no more work', async () => {
    const { connection, call, answered } = await lend();
    call.answer();
    await answered;
    const again = await waitFor(() => pool.reuse(), 'the connection');
    expect([again.client === connection.client, again.reused]).toEqual([true, true]);
    expect([pool.reuse(), pool.closeUnneeded()]).toEqual([undefined, false]);
  });

  it.each([
    ['is needed', () => pool.reuse() !== undefined],
    ['is needed elsewhere', () => pool.closeUnneeded()],
  ])('comes back before undici says so when it %s', async (_, use) => {
    const { client, lend } = pool.open();
    const onDrain = vi.fn<() => void>();
    client.on('drain', onDrain);
    const ended = new Promise<void>((resolve) => {
      const handler = {
        onRequestStart: () => undefined,
        onResponseEnd: () => {
          resolve();
        },
        onResponseError: () => undefined,
      };
      client.dispatch({ path: '/', method: 'GET' }, handler);
    });
    lend();
    await ended;
    expect([onDrain.mock.calls, use()]).toEqual([[], true]);
  });

  it('returns at its end, and not when the pool checks for it', async () => {
    const later = await served();
    const { connection, call, answered } = await lend();
    const drained = new Promise((resolve) => connection.client.once('drain', resolve));
    call.answer();
    await Promise.all([answered, drained]);
    later.release();
    expect([pool.reuse()?.client, pool.reuse()?.client]).toEqual([later.client, connection.client]);
  });
});

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
const WITH_HEADERS = 'HTTP/1.1 100 Continue\r\nServer: acme\r\n\r\n';
const EARLY_HINTS = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n';
const answer = (body: string) => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

describe('100 Continue that nobody has asked for', () => {
  const upstream = { name: 'acme', timeouts: { connectMs: 1_000 } } as UpstreamConfig;
  let server: Server;
  let connections: UpstreamConnections;

  afterEach(async () => {
    await connections.onApplicationShutdown();
    await new Promise((resolve) => server.close(resolve));
  });

  /** Starts a provider that answers each request with these pieces. Returns a function that sends a request. */
  async function provider(...pieces: string[]) {
    server = createServer({ noDelay: true }, (socket) => {
      socket.on('data', () => void writePieces(socket, pieces)).on('error', () => undefined);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    connections = new UpstreamConnections({ maxStreams: 2 } as Config, new ShedLoad());
    return () => whole((onChange) => connections.send(upstream, { url, headers: {}, body: '{}' }, onChange));
  }

  it.each([
    ['before the answer', [CONTINUE, answer('Hello')]],
    ['together with the answer', [CONTINUE + answer('Hello')]],
    ['with headers', [WITH_HEADERS + answer('Hello')]],
    ['several times, with other interim responses', [CONTINUE + WITH_HEADERS, EARLY_HINTS + answer('Hello')]],
    ['byte by byte', [...Array.from(WITH_HEADERS), answer('Hello')]],
  ])('is ignored %s', async (_, pieces) => {
    const send = await provider(...pieces);
    expect(await send()).toBe('200 Hello');
    expect(await send(), 'over the kept connection').toBe('200 Hello');
  });

  it('is text in the body of an answer', async () => {
    const [head = '', body = ''] = answer(CONTINUE).split(/(?<=\r\n\r\n)(?=HTTP)/);
    expect(await (await provider(head, body))()).toBe(`200 ${CONTINUE}`);
  });

  it('ends the connection when it does not end', async () => {
    const send = await provider(CONTINUE.repeat(1_000) + answer('Hello'));
    expect(await send()).toBe('The connection to the provider failed.');
  });
});

async function writePieces(socket: Socket, pieces: readonly string[]): Promise<void> {
  for (const piece of pieces) {
    socket.write(piece);
    await new Promise(setImmediate);
  }
}

/** Returns the status and the body of the answer, or its failure. */
function whole(send: (onChange: () => void) => UpstreamExchange): Promise<string> {
  return new Promise((resolve) => {
    let body = '';
    const exchange = send(() => {
      try {
        for (let bytes = exchange.take(); bytes !== undefined; bytes = exchange.take()) body += bytes.toString();
        if (exchange.isOver) resolve(`${exchange.head?.status} ${body}`);
      } catch (error) {
        resolve((error as Error).message);
      }
    });
  });
}
