import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { ShedLoad } from '../../../../src/platform/common/shed-load.js';
import type { Config, UpstreamConfig } from '../../../../src/platform/config/config.js';
import { UpstreamConnections } from '../../../../src/upstreams/transport/upstream-connections.js';
import type { UpstreamExchange } from '../../../../src/upstreams/transport/upstream-exchange.js';

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
