import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ownTurn, takeTurn } from '../../../../../src/platform/common/event-loop/event-loop-turns.js';
import { ShedLoad } from '../../../../../src/platform/common/shed-load.js';
import type { Config } from '../../../../../src/platform/config/config.js';
import { elapsedMs } from '../../../../../src/platform/common/timers/pace.js';
import { ClientConnections } from '../../../../../src/platform/http/connections/client-connections.js';
import { serveConnections } from '../../../../../src/platform/http/connections/serve-connections.js';
import { getRequest, RawConnection } from '../../../../hostile/support/raw-connection.js';
import { stopTimersOfService } from '../../../../support/moved-time.js';

const FULL_MS = 2_000;
const MAX_CONNECTIONS = 10;
/** What is read ahead of waiting requests, and one read of the connection. */
const MAX_READ = (256 + 64) * 1024;
const HEADS = 10_000;
const MANY_TURNS = 500;
const PATIENCE_MS = 20_000;
/** More than what may be read ahead, in three bodies. */
const LARGE = 'x'.repeat(100_000);
/** As much as may be read ahead, in two bodies. */
const HALF = 'x'.repeat(128 * 1024);

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

let server: Server;
let connections: ClientConnections;
let shed: ShedLoad;
/** What was handled, oldest first. */
let handled: Exchange[];
/** The sockets of the server. */
let sockets: Socket[];
let client: RawConnection;

beforeEach(async () => {
  stopTimersOfService();
  [handled, sockets] = [[], []];
  shed = new ShedLoad();
  connections = new ClientConnections({ maxConnections: MAX_CONNECTIONS } as Config, shed);
  server = createServer();
  serveConnections(server, connections, (request, response) => handled.push({ request, response }));
  server.on('connection', (socket) => sockets.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  client = await RawConnection.open(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await until(() => sockets.length === 1);
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  client.leave();
  await until(() => connections.count === 0);
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
  server.close();
  await once(server, 'close');
});

/** Waits without a timer. Ends before the test does, so that no other test is disturbed. */
async function until(isSo: () => boolean): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!isSo()) {
    if (performance.now() > deadline) throw new Error(`Waited in vain: ${String(isSo)}`);
    await turn();
  }
}
const turn = () => new Promise((resolve) => setImmediate(resolve));
const post = (path: string, body = '') =>
  `POST ${path} HTTP/1.1\r\nHost: test\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
const handles = (count: number) => until(() => handled.length === count);
function answer(index: number): void {
  const { request, response } = handled[index] as Exchange;
  request.resume();
  response.end(`answer ${index + 1}`);
}
const socketOfServer = () => sockets[0] as Socket;
/** Opens connections until the server has accepted so many. */
async function openUpTo(count: number): Promise<RawConnection[]> {
  const { port } = server.address() as AddressInfo;
  const opened = await RawConnection.openMany(`http://127.0.0.1:${port}`, count - sockets.length);
  await until(() => sockets.length === count);
  return opened;
}

const cutOff = () => new Map(shed.counts).get('connections');

it('a connection with several requests at once resets the time limit of the response before', async () => {
  client.send(post('/1'), post('/2'));
  await handles(1);
  socketOfServer().setTimeout(60_000);
  answer(0);
  await handles(2);
  expect(socketOfServer().timeout).toBe(0);
});

describe('a connection whose client reads late', () => {
  const MUCH = 'x'.repeat(20_000_000);

  it.each([0, 1_000, 50_000])(
    'notices that the client leaves, after %i bytes of the next requests and then all of them',
    async (sentBefore) => {
      const next = post('/2', LARGE) + post('/3', LARGE);
      client.send(post('/1'), next.slice(0, sentBefore));
      await handles(1);
      client.socket.pause();
      handled[0]?.response.write(MUCH);
      client.send(next.slice(sentBefore));
      for (let turns = 0; turns < MANY_TURNS; turns++) await turn();
      client.socket.resume();
      await until(() => client.received.length > MUCH.length && !socketOfServer().writableNeedDrain);
      client.leave();
      await until(() => connections.count === 0);
      expect(handled).toHaveLength(1);
    },
  );
});

describe('a connection with more than may be read ahead', () => {
  async function isFull(bodies: readonly string[] = Array<string>(6).fill(LARGE)): Promise<void> {
    client.send(post('/1'), ...bodies.map((body, index) => post(`/${index + 2}`, body)));
    await handles(1);
    await until(() => vi.getTimerCount() === 1);
  }

  it.each([4_000, 16_000, 60_000, 64_000, 100_000, 1_000_000])(
    'is read no further, and then on from answer to answer, with bodies of %i bytes',
    async (size) => {
      const bodies = Array<string>(99).fill('x'.repeat(size));
      await isFull(bodies);
      for (let turns = 0; turns < MANY_TURNS; turns++) await turn();
      expect(socketOfServer().bytesRead).toBeLessThan(MAX_READ + HEADS);
      expect([socketOfServer().isPaused(), vi.getTimerCount()]).toEqual([true, 1]);

      answer(0);
      for (let index = 1; index <= bodies.length; index++) {
        await handles(index + 1);
        const { request } = handled[index] as Exchange;
        let length = 0;
        request.on('data', (bytes: Buffer) => (length += bytes.length));
        await until(() => request.readableEnded);
        expect(length).toBe(size);
        answer(index);
      }
      await until(() => client.answers.length === bodies.length + 1);
      expect(vi.getTimerCount()).toBe(0);
    },
  );

  it('has two seconds for each answer', async () => {
    await isFull();
    vi.advanceTimersByTime(FULL_MS - 1);
    answer(0);
    await handles(2);
    await until(() => vi.getTimerCount() === 1);
    vi.advanceTimersByTime(FULL_MS - 1);
    expect(cutOff()).toBe(0);
    vi.advanceTimersByTime(1);
    expect(cutOff()).toBe(1);
  });

  it.each([
    ['a later answer is on its way', [LARGE, LARGE, LARGE]],
    ['the rest was dropped', [LARGE, LARGE, LARGE]],
    ['the rest was dropped', [HALF, HALF]],
  ])('notices that the client leaves when %s', async (when, bodies) => {
    await isFull(bodies);
    if (when === 'the rest was dropped') {
      vi.advanceTimersByTime(FULL_MS);
    } else {
      answer(0);
      await handles(2);
    }
    client.leave();
    await until(() => connections.count === 0);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a connection whose request cannot be parsed', () => {
  it.each([
    ['HPE_HEADER_OVERFLOW', 431],
    ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 413],
    ['ERR_HTTP_REQUEST_TIMEOUT', 408],
    ['HPE_INVALID_METHOD', 400],
  ])('because of %s has the status %i', async (code, status) => {
    server.emit('clientError', Object.assign(new Error('refused'), { code }), socketOfServer());
    await client.closed;
    expect(client.answers).toMatchObject([{ status }]);
    expect(client.received).toContain(status === 413 ? '"payload_too_large"' : '"invalid_request"');
  });
});

describe('connections above the limit', () => {
  it('count as idle from the end of their last answer, not from their beginning', async () => {
    const [connection] = connections.all();
    client.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await until(() => handled.length === 1);
    const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 5_000);
    const endedAt = elapsedMs();
    handled[0]?.response.end();
    await until(() => connection?.response === undefined);
    clock.mockRestore();

    expect(connection?.idleSince).toBe(endedAt);
    const others = await openUpTo(MAX_CONNECTIONS + 1);
    expect(sockets.findIndex(({ destroyed }) => destroyed)).toBe(0);
    expect(cutOff()).toBe(1);
    for (const one of others) one.leave();
  });

  it('check for a stuck client ten times a second at most', async () => {
    const startedAt = performance.now();
    const clock = vi.spyOn(performance, 'now').mockReturnValue(startedAt);
    const [stuck] = await openUpTo(2);
    const others = await openUpTo(MAX_CONNECTIONS + 1);
    expect(sockets[0]?.destroyed).toBe(true);
    stuck?.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhalf');
    await handles(1);

    clock.mockReturnValue(startedAt + 99);
    others.push(...(await openUpTo(MAX_CONNECTIONS + 2)));
    expect([sockets[1]?.destroyed, sockets[2]?.destroyed]).toEqual([false, true]);

    clock.mockReturnValue(startedAt + 100);
    others.push(...(await openUpTo(MAX_CONNECTIONS + 3)));
    expect([sockets[1]?.destroyed, sockets[3]?.destroyed]).toEqual([true, false]);
    clock.mockRestore();
    for (const one of [...others, stuck]) one?.leave();
  });
});

describe('the turns of the event loop', () => {
  const MANY = 5_000;
  let workLeft: number;

  /** Fills many turns with work. */
  function beBusy(): Promise<unknown> {
    workLeft = MANY;
    return Promise.all(Array.from({ length: MANY }, () => ownTurn().then(() => void (workLeft -= 1))));
  }

  it('are for new connections before they are for other work', async () => {
    const steps: string[] = [];
    server.once('connection', () => {
      takeTurn(() => steps.push('other work'));
      steps.push('the connection');
    });
    const others = await openUpTo(2);
    await until(() => steps.length === 2);
    expect(steps).toEqual(['the connection', 'other work']);
    for (const one of others) one.leave();
  });

  it('are for a probe before they are for the work that waits', async () => {
    const work = beBusy();
    client.send(getRequest('/api/v1/health'));
    await handles(1);
    expect(workLeft).toBeGreaterThan(0);
    await work;
  });

  it('are not for a request whose client leaves while it waits for its turn', async () => {
    const work = beBusy();
    client.send(getRequest('/'));
    await until(() => [...connections.all()].some(({ response }) => response !== undefined));
    client.leave();
    await until(() => connections.count === 0);
    expect(workLeft).toBeGreaterThan(0);
    await work;
    await turn();
    expect(handled).toEqual([]);
  });
});
