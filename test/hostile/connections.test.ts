import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { valueOf } from '../support/metrics.js';
import { openStream, stream } from '../support/sse-client.js';
import { Latch } from '../support/latch.js';
import { waitFor } from '../support/wait-for.js';
import { wireOf } from '../support/wire.js';
import { getRequest, RawConnection, streamRequest } from './support/raw-connection.js';
import { MAX_HEALTH_MS, Target } from './support/target.js';

const MAX_STREAMS = 20;
/** See `maxConnectionsFor`. */
const MAX_CONNECTIONS = MAX_STREAMS + 1_000;
/** 10 s for the headers, looked at every 2 s, and time for a busy machine. */
const HEADERS_LIMIT_MS = 25_000;

describe('connections of clients', () => {
  let target: Target;
  let key: string;

  beforeAll(async () => {
    target = await Target.start({ env: { MAX_STREAMS: String(MAX_STREAMS) } });
    target.provider.closesConnections();
    key = await target.createKey();
  });
  afterAll(() => target.stop());

  const open = async (): Promise<number> => valueOf(await target.metrics(), 'chat_client_connections');
  const leaveAll = (connections: readonly RawConnection[]): void => {
    for (const connection of connections) connection.leave();
  };

  it('that send no whole headers are closed after seconds', async () => {
    const connections = await RawConnection.openMany(target.origin, 30);
    const beganAt = performance.now();
    const trickle = setInterval(() => {
      for (const connection of connections.slice(10, 20)) connection.send('X-A: b\r\n');
      for (const connection of connections.slice(20)) connection.send('\r\n');
    }, 500);
    for (const connection of connections.slice(10, 20)) connection.send('GET /api/v1/health HTTP/1.1\r\n');

    await Promise.all(connections.map(({ closed }) => closed));

    clearInterval(trickle);
    expect(performance.now() - beganAt).toBeLessThan(HEADERS_LIMIT_MS);
    leaveAll(connections);
  });

  it('beyond the limit replace idle ones; streams and /health continue', async () => {
    const latch = new Latch();
    target.provider.next(async (call) => {
      call.head().text('Hel');
      await latch.opened;
      call.text('lo').finish().endMarker().end();
    });
    const running = await openStream(target.origin, { key });
    await running.block(1);
    const idle: RawConnection[] = [];

    const health = await target.healthDuring(async () => {
      while (idle.length < MAX_CONNECTIONS + 500) idle.push(...(await RawConnection.openMany(target.origin, 50)));
      expect(await open()).toBeLessThanOrEqual(MAX_CONNECTIONS);
      expect((await stream(target.origin, { key })).status).toBe(200);
    });

    expect(health.failed).toBe(0);
    expect(health.longestMs).toBeLessThan(MAX_HEALTH_MS);
    await Promise.all(idle.slice(0, 400).map(({ closed }) => closed));
    expect(valueOf(await target.metrics(), 'chat_shed_total', { reason: 'connections' })).toBeGreaterThan(400);
    latch.open();
    expect(await wireOf(running)).toMatchObject({ text: 'Hello', terminal: 'done' });
    leaveAll(idle);
    await waitFor(async () => (await open()) < 50, 'the connections to be closed');
  });

  it('whose clients send no more of their requests give way, too', async () => {
    const started = streamRequest(key, 'x'.repeat(1_000)).slice(0, -500);
    const unfinished: RawConnection[] = [];
    const health = await target.healthDuring(async () => {
      while (unfinished.length < MAX_CONNECTIONS + 200) {
        const connections = await RawConnection.openMany(target.origin, 50);
        for (const connection of connections) unfinished.push(connection.send(started));
      }
    });
    expect(health.failed).toBe(0);
    expect(health.longestMs).toBeLessThan(MAX_HEALTH_MS);
    expect(await open()).toBeLessThanOrEqual(MAX_CONNECTIONS);
    leaveAll(unfinished);
    await waitFor(async () => (await open()) < 50, 'the connections to be closed');
  });

  it('that request another protocol, a tunnel or the unknown are answered or closed', async () => {
    const health = '/api/v1/health';
    const upgrade = (await RawConnection.open(target.origin)).send(
      getRequest(health, 'Connection: Upgrade\r\nUpgrade: websocket\r\n'),
    );
    const tunnel = (await RawConnection.open(target.origin)).send(
      'CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n',
    );
    const http2 = (await RawConnection.open(target.origin)).send('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    const expecting = (await RawConnection.open(target.origin)).send(getRequest(health, 'Expect: the-unexpected\r\n'));
    const nonsense = (await RawConnection.open(target.origin)).send('NONSENSE\r\n\r\n');

    await Promise.all([tunnel.closed, http2.closed, nonsense.closed]);
    await waitFor(() => upgrade.answers.length === 1 && expecting.answers.length === 1, 'the answers');

    expect(upgrade.answers[0]?.status).toBe(200);
    expect(expecting.answers[0]?.status).toBe(417);
    expect(nonsense.answers[0]?.status).toBe(400);
    expect(tunnel.received).toBe('');
    leaveAll([upgrade, tunnel, http2, expecting, nonsense]);
    await waitFor(async () => (await open()) < 50, 'the connections to be closed');
  });

  it('that are refused by the parser do not stay, whatever their client does', async () => {
    const before = await open();
    const connections = await RawConnection.openMany(target.origin, 50);
    for (const connection of connections) connection.send('NONSENSE\r\n\r\n');
    await Promise.all(connections.map(({ closed }) => closed));
    // The clients keep their half open.
    await waitFor(async () => (await open()) <= before, 'the connections to be cut');
    leaveAll(connections);
  });
});
